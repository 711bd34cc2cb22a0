import type { PageRequest, SubmissionMatcher } from '../fence/submit-fence.ts';
import type { FormToSend } from './adapter.ts';

/** A shorter filled-in value does not count as a sign that a request carries the application. */
const textLengthMin = 3;

export function pathOf(url: string): string {
  return URL.canParse(url) ? new URL(url).pathname : '';
}

function isFormsAction({ action }: FormToSend, request: PageRequest): boolean {
  if (action === undefined || !request.isNavigation || request.method === 'GET') return false;
  return withoutHash(request.url) === withoutHash(action);
}

export function postTo(path: RegExp): (form: FormToSend) => SubmissionMatcher {
  return (form) => (request) =>
    isFormsAction(form, request) || (request.method === 'POST' && path.test(pathOf(request.url)));
}

/**
 * Recognises the submission request by the action of the form, or by a value that was filled in
 * (CONTRACT 10, "At most once").
 */
export function actionOrFilledValue(form: FormToSend): SubmissionMatcher {
  const long = form.values.filter(({ length }) => length >= textLengthMin);
  const needles = [...new Set(long.flatMap(spellings))];
  const isFilled = (text: string): boolean => needles.some((needle) => text.includes(needle));
  return (request) => {
    if (isFormsAction(form, request)) return true;
    if (request.isBeacon === true) return false;
    if (request.method === 'GET') return request.isNavigation && isFilled(queryOf(request.url));
    if (['HEAD', 'OPTIONS'].includes(request.method)) return false;
    return isFilled(request.bodyText ?? '');
  };
}

function queryOf(url: string): string {
  return URL.canParse(url) ? new URL(url).search : '';
}

function spellings(value: string): string[] {
  const lines = value.replaceAll('\r\n', '\n');
  const encoded = encodeURIComponent(lines.replaceAll('\n', '\r\n'));
  return [
    lines,
    lines.replaceAll('\n', '\r\n'),
    JSON.stringify(lines).slice(1, -1),
    encodeURIComponent(lines),
    encoded,
    encoded.replaceAll('%20', '+'),
    new URLSearchParams({ v: lines }).toString().slice(2),
  ];
}

function withoutHash(url: string): string {
  return url.replace(/#.*$/u, '');
}
