/// <reference lib="dom" />
import type { ElementHandle } from 'playwright-core';

const keysMsMax = 5_000;
/** A longer text is not typed key by key. */
const keysMax = 200;

/**
 * Types the text key by key in place of the present value. Returns false for a text that is too
 * long, or if the control is no text field.
 */
export async function typeKeys(
  control: ElementHandle<HTMLElement>,
  text: string,
): Promise<boolean> {
  if (text.length > keysMax || text.includes('\n')) return false;
  const isText = await control.evaluate(
    (element) =>
      element instanceof HTMLInputElement && /^(?:text|tel|email|url|)$/u.test(element.type),
  );
  if (!isText) return false;
  await control.focus();
  await control.press('ControlOrMeta+A', { timeout: keysMsMax });
  await control.press('Delete', { timeout: keysMsMax });
  await control.type(text, { timeout: keysMsMax });
  return true;
}

/**
 * Types a text with its paragraphs into an editor for formatted text. Most editors make a paragraph
 * only at the key Enter. Some take only the whole text at once (`attempt` 1).
 */
export async function typeInEditor(
  control: ElementHandle<HTMLElement>,
  text: string,
  attempt: number,
): Promise<void> {
  const inner = await control.contentFrame();
  const body = (await inner?.$('body')) ?? control;
  if (attempt % 2 === 1) return await body.fill(text, { timeout: keysMsMax });
  const frame = await body.ownerFrame();
  if (frame === null) throw new Error('The editor is not attached to the page.');
  const { keyboard } = frame.page();
  await body.evaluate((element) => {
    element.focus();
    getSelection()?.selectAllChildren(element);
  });
  await keyboard.press('Delete');
  for (const [index, line] of text.split('\n').entries()) {
    if (index > 0) await keyboard.press('Enter');
    if (line !== '') await keyboard.insertText(line);
  }
}
