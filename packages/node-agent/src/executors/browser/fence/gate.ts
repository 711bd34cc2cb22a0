/**
 * The phase of the fence decides which requests may leave the browser. A CORS preflight carries no
 * application, so it leaves in each phase other than `sending`. Any other request matches if it
 * carries the application:
 *
 * - `open`: all requests leave.
 * - `armed`: only requests that do not match leave.
 * - `activated`: the first request that matches becomes the submission request. Requests that do
 *   not match leave.
 * - `sending`: the submission request is in flight, and all other requests wait.
 * - `closed`: only GET and HEAD requests that do not match leave.
 */
export type FencePhase = 'open' | 'armed' | 'activated' | 'sending' | 'closed';

export type Verdict = 'continue' | 'abort' | 'hold' | 'submit';

/** Methods that HTTP defines as safe: a request with such a method should change nothing. */
const safeMethods: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];
/** Redirects after which the browser repeats the request, with its body, at another address. */
const repeatingStatuses: readonly number[] = [307, 308];
/**
 * Redirects after which the browser sends a GET without the body instead of a POST. The browser
 * repeats any other request.
 */
const postToGetStatuses: readonly number[] = [301, 302];
const seeOther = 303;

/** Decides whether a request may leave the browser (CONTRACT 10, "At most once"). */
export function verdictOn(
  phase: FencePhase,
  { method, isMatch }: { readonly method: string; readonly isMatch: boolean },
): Verdict {
  // An `OPTIONS` request is a CORS preflight. `isMatch` may be true for it, but it carries no
  // application. It therefore leaves in each phase other than `sending`.
  const isPreflight = method === 'OPTIONS';
  switch (phase) {
    case 'open':
      return 'continue';
    case 'armed':
      return isMatch && !isPreflight ? 'abort' : 'continue';
    case 'activated':
      return isMatch && !isPreflight ? 'submit' : 'continue';
    case 'sending':
      return 'hold';
    case 'closed':
      return safeMethods.includes(method) && (isPreflight || !isMatch) ? 'continue' : 'abort';
  }
}

/**
 * `follow`: the answer is a redirect that does not send the application again. `repeat`: the answer
 * asks the browser to send the application once more, to another address. `final`: the answer is no
 * redirect, or a redirect without an address.
 */
export type AnswerKind = 'follow' | 'repeat' | 'final';

export function answerKind(status: number, method: string, hasLocation: boolean): AnswerKind {
  if (!hasLocation) return 'final';
  if (status === seeOther) return 'follow';
  if (postToGetStatuses.includes(status)) {
    return method === 'POST' || safeMethods.includes(method) ? 'follow' : 'repeat';
  }
  if (!repeatingStatuses.includes(status)) return 'final';
  return safeMethods.includes(method) ? 'follow' : 'repeat';
}
