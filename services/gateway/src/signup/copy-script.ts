/**
 * Adds a copy button after each element with `data-copy`, or after the `pre` around it. If the
 * browser denies the clipboard, the button selects the text instead.
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
