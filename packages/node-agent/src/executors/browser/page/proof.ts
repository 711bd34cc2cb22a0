import type { Adapter, Answer, Refusal } from '../adapters/index.ts';
import {
  saysBotCheck,
  saysConfirmByMail,
  saysNotYet,
  saysReceived,
  saysRefused,
  saysThanks,
} from '../lexicon/sentences.ts';
import { normaliseLabel } from '../planner/index.ts';
import { says, type PageFacts } from './facts.ts';
import type { FieldReport } from './in-page/reports.ts';

/** The conclusion from the site's answer and the page. `open`: nothing is proved yet. */
export type Proof =
  | { readonly kind: 'accepted' }
  /** The application counts only after the applicant has confirmed it by e-mail. */
  | { readonly kind: 'to_confirm' }
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
  if (answer.status < 400) {
    if (hasMarker(evidence)) return { kind: 'accepted' };
    const texts = [...evidence.page.sentences, ...evidence.page.alerts];
    // The page may add a sentence that takes the thanks back a moment after the thanks.
    if (evidence.isSettled && texts.some(saysConfirmByMail)) return { kind: 'to_confirm' };
    if (saysAccepted(evidence)) return { kind: 'accepted' };
  }
  return refusalOnPage(evidence);
}

/** Without the text that the page showed before. If that text was cut, no sentence is new for sure. */
function newOn(page: PageFacts, before: PageFacts): PageFacts {
  const shownBefore = new Set([...before.sentences, ...before.alerts]);
  const isNew = (text: string): boolean => !shownBefore.has(text);
  return {
    ...page,
    shown: new Set([...page.shown].filter((selector) => !before.shown.has(selector))),
    sentences: before.isCut ? [] : page.sentences.filter(isNew),
    alerts: page.alerts.filter(isNew),
  };
}

/** True if the answer or the page shows the ATS's own mark of success. */
function hasMarker({ adapter: { success }, answer, page }: Evidence): boolean {
  if (success.isAccepted?.(answer) === true) return true;
  if (success.shown !== undefined && page.shown.has(success.shown)) return true;
  const { path } = success;
  const isPath = (url: string): boolean =>
    URL.canParse(url) && path?.test(new URL(url).pathname) === true;
  return page.urls.some(isPath);
}

/**
 * True if the page says that the site has the application, and nothing there takes that back. The
 * thanks may be in a toast or a dialog over the form.
 */
function saysAccepted(evidence: Evidence): boolean {
  const { adapter, page, now, isSettled } = evidence;
  if (!adapter.success.isSentenceEnough || page.challenge !== 'none') return false;
  const all = [...page.sentences, ...page.alerts];
  if (all.some((text) => saysNotYet(text) || saysRefused(text) || saysConfirmByMail(text))) {
    return false;
  }
  if (now !== undefined && (!isSettled || asksMore(evidence))) return false;
  if (all.some(saysReceived)) return true;
  return now === undefined && isSettled && page.sentences.some(saysThanks);
}

/** True if the form shows an error, or has a required field without a value that was not there. */
function asksMore({ now = [], sent }: Evidence): boolean {
  const known = new Set(sent.map(({ field }) => field.key));
  return now.some(
    ({ field, state, isMarked, hasMessage }) =>
      isMarked ||
      (hasMessage && isEmpty(state)) ||
      (!known.has(field.key) && field.isRequired && isEmpty(state)),
  );
}

export function isEmpty(state: FieldReport['state']): boolean {
  switch (state.kind) {
    case 'text':
      return state.text === '';
    case 'chosen':
      return state.labels.length === 0;
    case 'files':
      return state.names.length === 0;
  }
}

function refusalOnPage(evidence: Evidence): Proof {
  const { adapter, answer, page, now, isSettled } = evidence;
  // A 408 does not prove a refusal (`refusalByStatus`).
  const isRefused = answer.status >= 400 && answer.status !== 408;
  if (page.challenge !== 'none' || says(page.alerts, adapter.captchaSentences ?? [])) {
    return { kind: 'refused', refusal: { kind: 'captcha' } };
  }
  if (page.alerts.some(saysBotCheck)) {
    return { kind: 'refused', refusal: { kind: 'captcha' } };
  }
  const isShown = adapter.refusalShown !== undefined && page.shown.has(adapter.refusalShown);
  const texts = adapter.name === 'generic' && now !== undefined ? page.alerts : page.sentences;
  const labels = messageLabels(evidence);
  if (labels.length > 0) {
    return isRefused || isSettled ? { kind: 'fields', labels } : { kind: 'open' };
  }
  if (isShown || [...texts, ...page.alerts].some(saysRefused)) {
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
