/**
 * Adds a copy button after each element with `data-copy`, whose value is the name of the text. If
 * the browser denies the use of the clipboard, the button selects the text instead. For example,
 * browsers deny it to a page over plain HTTP from another machine. The status line lets screen
 * readers announce each result.
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
