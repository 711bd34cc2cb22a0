/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import type { ReadingRules, UploadRules } from '../../adapters/adapter.ts';
import type { UploadReport } from './reports.ts';
import type * as roots from './roots.ts';
import type * as states from './states.ts';
import type * as visibility from './visibility.ts';

declare const allBelow: typeof visibility.allBelow;
declare const closestAcross: typeof visibility.closestAcross;
declare const findRoot: typeof roots.findRoot;
declare const hasMessageFor: typeof states.hasMessageFor;
declare const isVisible: typeof visibility.isVisible;
declare const fieldBoxOf: typeof visibility.fieldBoxOf;

export function readUpload(
  input: HTMLElement,
  { rules, upload }: { readonly rules: ReadingRules; readonly upload: UploadRules },
): UploadReport {
  const container =
    (rules.question && closestAcross(input, rules.question.container)) ??
    fieldBoxOf(input) ??
    findRoot(rules);
  const isShown = (selector: string | undefined): boolean =>
    selector !== undefined && !!container && allBelow(container, selector).some(isVisible);
  const isInvalid = input.getAttribute('aria-invalid') === 'true';
  return {
    isWorking: isShown(upload.working) || isShown('progress, [role="progressbar"]'),
    isDone: isShown(upload.done),
    isFailed: isInvalid || isShown(upload.failed) || hasMessageFor([input], rules),
  };
}
