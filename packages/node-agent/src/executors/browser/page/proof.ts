import type { Adapter, Answer, Refusal } from '../adapters/index.ts';
import { normaliseLabel } from '../planner/index.ts';
import { says, type PageFacts } from './facts.ts';
import type { FieldReport } from './in-page/reports.ts';

/** The conclusion from the site's answer and the page. `open`: nothing is proved yet. */
export type Proof =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly refusal: Exclude<Refusal, { kind: 'fields' }> }
  | { readonly kind: 'fields'; readonly labels: readonly string[] }
  | { readonly kind: 'open' };

export interface Evidence {
  readonly adapter: Adapter;
  readonly answer: Answer;
  readonly page: PageFacts;
  /**
   * The page just before the submit control was pressed. Text that it showed then is no sign of the
   * site's answer.
   */
  readonly before: PageFacts;
  readonly sent: readonly FieldReport[];
  /** The form that the page shows now. Undefined if it shows none or was not read. */
  readonly now: readonly FieldReport[] | undefined;
  /** True if the page had enough time to show its messages. */
  readonly isSettled: boolean;
}

const thanks =
  /\b(?:thank you for (?:applying|your application)|thanks for applying|(?:your )?application (?:has been |have been |was |is )?(?:successfully )?(?:submitted|received|sent)(?: successfully)?|we(?: have|'ve|’ve)? received your application|successfully (?:submitted|applied))\b/iu;
const notSent = /\b(?:already|error)\b/iu;
const refusedBefore =
  /\b(?:already (?:applied|submitted|received)|duplicate application|flagged as (?:possible )?spam|(?:been )?blocked|not accepted|(?:unable to|could not|cannot|did not) accept|reached the limit of applications)\b/iu;
const captchaText =
  /captcha|verify (?:that )?you are (?:a )?human|not a robot|human verification/iu;

/**
 * Decides from the answer and the page whether the site has accepted or refused the application
 * (CONTRACT 10, "At most once"). Without a proof, returns `open`.
 */
export function judge(all: Evidence): Proof {
  const evidence = { ...all, page: newOn(all.page, all.before) };
  const { adapter, answer } = evidence;
  const refusal = adapter.refusalIn(answer);
  if (refusal !== undefined) {
    if (refusal.kind !== 'fields') return { kind: 'refused', refusal };
    const labels = labelsNamed(refusal.fields, evidence.sent);
    if (labels.length > 0) return { kind: 'fields', labels };
    return { kind: 'refused', refusal: { kind: 'rejected' } };
  }
  if (answer.status >= 500) return { kind: 'open' };
  if (answer.status < 400 && isAccepted(evidence)) return { kind: 'accepted' };
  return refusalOnPage(evidence);
}

function newOn(page: PageFacts, before: PageFacts): PageFacts {
  return {
    ...page,
    shown: new Set([...page.shown].filter((selector) => !before.shown.has(selector))),
    sentences: page.sentences.filter((text) => !before.sentences.includes(text)),
    alerts: page.alerts.filter((text) => !before.alerts.includes(text)),
  };
}

function isAccepted({ adapter: { success }, answer, page, now }: Evidence): boolean {
  if (success.isAccepted?.(answer) === true) return true;
  if (success.shown !== undefined && page.shown.has(success.shown)) return true;
  const { path } = success;
  const isPath = (url: string): boolean =>
    URL.canParse(url) && path?.test(new URL(url).pathname) === true;
  if (page.urls.some(isPath)) return true;
  if (!success.isSentenceEnough || now !== undefined) return false;
  return page.sentences.some((sentence) => thanks.test(sentence) && !notSent.test(sentence));
}

function refusalOnPage(evidence: Evidence): Proof {
  const { adapter, answer, page, now, isSettled } = evidence;
  // A 408 does not prove a refusal (`refusalByStatus`).
  const isRefused = answer.status >= 400 && answer.status !== 408;
  if (page.challenge !== 'none' || says(page.alerts, adapter.captchaSentences ?? [])) {
    return { kind: 'refused', refusal: { kind: 'captcha' } };
  }
  if (page.alerts.some((text) => captchaText.test(text))) {
    return { kind: 'refused', refusal: { kind: 'captcha' } };
  }
  const isShown = adapter.refusalShown !== undefined && page.shown.has(adapter.refusalShown);
  const texts = adapter.name === 'generic' && now !== undefined ? page.alerts : page.sentences;
  const labels = messageLabels(evidence);
  if (labels.length > 0) {
    return isRefused || isSettled ? { kind: 'fields', labels } : { kind: 'open' };
  }
  if (isShown || [...texts, ...page.alerts].some((text) => refusedBefore.test(text))) {
    return { kind: 'refused', refusal: { kind: 'rejected' } };
  }
  return isRefused && isSettled
    ? { kind: 'refused', refusal: { kind: 'rejected' } }
    : { kind: 'open' };
}

function messageLabels({ now, page, sent }: Evidence): string[] {
  const wasMarked = new Set(
    sent.filter(({ hasMessage, isMarked }) => hasMessage || isMarked).map(({ field }) => field.key),
  );
  const marked = (now ?? []).filter(
    ({ field, hasMessage, isMarked }) => (hasMessage || isMarked) && !wasMarked.has(field.key),
  );
  const labels = marked.map(({ field }) => field.label);
  return labels.length > 0 ? labels : labelsNamed(page.alerts, sent);
}

function labelsNamed(names: readonly string[], fields: readonly FieldReport[]): string[] {
  return fields
    .filter((report) => names.some((name) => isNamedBy(report, name)))
    .map(({ field }) => field.label);
}

function isNamedBy({ names, field }: FieldReport, name: string): boolean {
  if (names.some((own) => own === name || own.endsWith(`[${name}]`) || name.endsWith(`[${own}]`))) {
    return true;
  }
  const label = normaliseLabel(field.label);
  return label !== '' && ` ${normaliseLabel(name)} `.includes(` ${label} `);
}

const reference =
  /\b(?:confirmation|application|reference)\s*(?:id|number|no\.?|code|#)?\s*(?:is\b)?[\s:#]+((?=[A-Z0-9-]*\d)[A-Z0-9][A-Z0-9-]{3,63})\b/iu;

export function confirmationIdIn(sentences: readonly string[]): string | undefined {
  for (const sentence of sentences) {
    const found = reference.exec(sentence)?.[1];
    if (found !== undefined) return found;
  }
  return undefined;
}
