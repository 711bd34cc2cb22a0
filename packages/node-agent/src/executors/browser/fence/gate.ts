/**
 * `armed`: nothing that matches leaves. `activated`: the first match becomes the submission request.
 * `sending`: it is on its way, and everything else waits. `closed`: no second one leaves.
 */
export type FencePhase = 'open' | 'armed' | 'activated' | 'sending' | 'closed';

export type Verdict = 'continue' | 'abort' | 'hold' | 'submit';

/** Methods that carry no application. */
const safeMethods: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];
/** Redirects after which the browser repeats the request, with its body, at another address. */
const repeatingStatuses: readonly number[] = [307, 308];
/** Redirects after which it repeats every method other than POST. */
const postToGetStatuses: readonly number[] = [301, 302];
const seeOther = 303;

/** Decides whether a request may leave the browser (CONTRACT 10, "At most once"). */
export function verdictOn(
  phase: FencePhase,
  { method, isMatch }: { readonly method: string; readonly isMatch: boolean },
): Verdict {
  // A CORS preflight. The browser makes it before the gate sees the request itself.
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
 * `follow`: the answer is a redirect to a page that the browser gets. `repeat`: it tells the browser
 * to send the application once more, to another address. `final`: it is the answer itself.
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
