import type { Browser, Page } from 'playwright-core';
import { type CdpListener, type CdpSession, NestedSessions, sessionOf } from './cdp-session.ts';
import { fieldsOf, textOf } from './paused-request.ts';

export type TargetListener = (session: CdpSession, method: string, params: unknown) => void;

/**
 * Selects the parts of a page that have a separate CDP session: workers, and frames that run in
 * another process than the page.
 */
const insiders = [{ type: 'iframe' }, { type: 'worker' }, { exclude: true }];
/**
 * Selects all pages. `watchTargets` closes every page except the watched one, because `gate` does
 * not pause the requests of other pages.
 */
const outsiders = [{ type: 'page' }, { exclude: true }];

/** The most frames and workers of one target that have a session. */
const targetsMax = 1_000;

function listenerOf(session: CdpSession, listener: TargetListener): CdpListener {
  const nested = new NestedSessions(session);
  return (method, params) => {
    if (method === 'Target.receivedMessageFromTarget') return nested.receive(params);
    if (method === 'Target.detachedFromTarget') {
      return nested.close(textOf(fieldsOf(params)['sessionId']) ?? '');
    }
    if (method !== 'Target.attachedToTarget') return listener(session, method, params);
    const sessionId = textOf(fieldsOf(params)['sessionId']);
    if (sessionId === undefined) return;
    // A target over this limit keeps waiting for the debugger, so it makes no requests.
    if (nested.size >= targetsMax) return;
    const child = nested.open(sessionId, (opened) => listenerOf(opened, listener));
    // `gate` fails for a worker, but the session of the page or frame pauses the worker's requests.
    // `gate` also fails for a target that has gone, which makes no requests.
    gate(child).catch(() => {});
  };
}

/** Makes a target pause each of its later requests. */
async function gate(session: CdpSession): Promise<void> {
  // Sends each command before the earlier ones are answered, because a target that waits for the
  // debugger might not answer them before `Runtime.runIfWaitingForDebugger`.
  await Promise.all([
    session.send('Network.enable', { maxPostDataSize: 1 }),
    // Fails for a worker, because workers have no Fetch domain.
    session.send('Fetch.enable', { patterns: [{ urlPattern: '*', requestStage: 'Request' }] }),
    session.send('Target.setAutoAttach', {
      autoAttach: true,
      waitForDebuggerOnStart: true,
      flatten: false,
      filter: insiders,
    }),
    session.send('Runtime.runIfWaitingForDebugger'),
  ]);
}

/**
 * Listens to a page, its frames and its workers. Closes each further page. Rejects if the browser
 * refuses a command during the set-up.
 */
export async function watchTargets(
  browser: Browser,
  page: Page,
  listener: TargetListener,
): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const onEvent = listenerOf(sessionOf(session), listener);
  session.on('event', ({ method, params }) => onEvent(method, params));
  await gate(sessionOf(session));
  const { targetInfo } = await session.send('Target.getTargetInfo');

  const root = await browser.newBrowserCDPSession();
  root.on('Target.attachedToTarget', (attached) => {
    const { targetId } = attached.targetInfo;
    if (targetId === targetInfo.targetId) return;
    // Usually closes the new page before its first request (decision 28).
    root.send('Target.closeTarget', { targetId }).catch(() => {});
  });
  page.once('close', () => void root.detach().catch(() => {}));
  await root.send('Target.setAutoAttach', {
    autoAttach: true,
    waitForDebuggerOnStart: true,
    flatten: true,
    filter: outsiders,
  });
}
