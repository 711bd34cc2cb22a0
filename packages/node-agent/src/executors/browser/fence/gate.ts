/**
 * The phase of the fence decides which requests may leave the browser. A request carries the
 * application if the adapter recognises it, unless it is a CORS preflight.
 */
export type FencePhase =
  | 'open'
  /** All requests leave, except those that carry the application. */
  | 'armed'
  /** The first request that carries the application becomes the submission request. */
  | 'activated'
  /**
   * The fence lets out the submission request and waits for its answer. All other requests wait.
   */
  | 'sending'
  /** Only GET, HEAD and OPTIONS requests that do not carry the application leave. */
  | 'closed';

export type Verdict = 'continue' | 'abort' | 'hold' | 'submit';

/** Methods that HTTP defines as safe: a request with such a method should change nothing. */
const safeMethods: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];
/** Redirects after which the browser repeats the request, with its body, at another address. */
const repeatingStatuses: readonly number[] = [307, 308];
/**
 * Redirects that turn a POST into a GET without a body. A request with another method, such as PUT,
 * keeps its method and its body.
 */
const postToGetStatuses: readonly number[] = [301, 302];
const seeOther = 303;

/** Decides whether a request may leave the browser (CONTRACT 10, "At most once"). */
export function verdictOn(
  phase: FencePhase,
  { method, isMatch }: { readonly method: string; readonly isMatch: boolean },
): Verdict {
  // Each `OPTIONS` request counts as a CORS preflight. A preflight carries no application, even if
  // `isMatch` is true.
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

export function isSafe(method: string): boolean {
  return safeMethods.includes(method);
}

export type AnswerKind =
  /** A redirect that does not send the application again. */
  | 'follow'
  /** A redirect that asks the browser to send the application again, to another address. */
  | 'repeat'
  /** Not a redirect, or a redirect without an address. */
  | 'final';

export function answerKind(status: number, method: string, hasLocation: boolean): AnswerKind {
  if (!hasLocation) return 'final';
  if (status === seeOther) return 'follow';
  if (postToGetStatuses.includes(status)) {
    return method === 'POST' || safeMethods.includes(method) ? 'follow' : 'repeat';
  }
  if (!repeatingStatuses.includes(status)) return 'final';
  return safeMethods.includes(method) ? 'follow' : 'repeat';
}
