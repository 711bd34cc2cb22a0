/**
 * Gives each element with `data-copy` a button that copies its text; `data-copy` is what it is
 * called. Where the clipboard is closed to the page (plain HTTP from another machine) the text is
 * selected instead. Everything is said in the page's status line, for those who do not see it.
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
