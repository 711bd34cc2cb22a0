/**
 * Adds a button to each element with `data-copy`. The button copies the text of the element. The
 * value of `data-copy` names the text. If the page may not use the clipboard (plain HTTP from
 * another machine), the text is selected instead. The status line reports each result, so that
 * screen readers announce it.
 */
export const copyScript = `
const say = (text) => { document.getElementById('copied').textContent = text; };
const copy = async (element, name) => {
  try {
    await navigator.clipboard.writeText(element.textContent);
    say('Copied: ' + name + '.');
  } catch {
    getSelection().selectAllChildren(element);
    say('Selected: ' + name + '. Copy it with Ctrl+C, or Cmd+C.');
  }
};
for (const element of document.querySelectorAll('[data-copy]')) {
  const name = element.dataset.copy;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.setAttribute('aria-label', 'Copy ' + name);
  button.addEventListener('click', () => copy(element, name));
  (element.closest('pre') ?? element).after(button);
}
`;
