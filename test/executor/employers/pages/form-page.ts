import type { FixtureAnswer } from '../server/listen.ts';
import type { World } from '../server/world.ts';
import { baseScript, lateScript, replaceScript } from './base-script.ts';
import { fieldData, pageAnswer, scripts } from './html.ts';

export interface FormPage {
  readonly title: string;
  readonly before: string;
  /**
   * The markup of the form. It must contain one element of the class `custom-questions`, which
   * `lateScript` fills last.
   */
  readonly form: string;
  readonly after: string;
  readonly wrapper: string;
  /**
   * True if the page keeps the answers in `app.values` (`baseScript`), shows them in the text
   * inputs and sends them. False if it sends the contents of the inputs.
   */
  readonly isControlled: boolean;
  readonly data: Readonly<Record<string, unknown>>;
  readonly scripts: readonly string[];
}

export function formPage(
  { behaviour, fields }: World,
  { title, before, form, after, wrapper, isControlled, data, scripts: own }: FormPage,
): FixtureAnswer {
  const isLate = behaviour === 'late-render';
  const root = isLate
    ? `<div id="late-root" aria-busy="true"><p>Loading the form</p></div><template id="late-form">${form}</template>`
    : form;
  const all = { root: 'main', wrapper, isControlled, fields: fieldData(fields), ...data };
  return pageAnswer(
    title,
    `${before}${root}${after}${scripts(
      all,
      baseScript,
      ...own,
      ...(isLate ? [lateScript] : []),
      ...(behaviour === 're-render' ? [replaceScript] : []),
    )}`,
  );
}
