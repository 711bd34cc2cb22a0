import { mkdir } from 'node:fs/promises';
import type { Executor } from './executor.ts';
import {
  CannotStartBrowser,
  deleteLeftoverProfiles,
  findBrowser,
  installCommand,
  newProfileDirectory,
  openBrowser,
} from './executors/browser/chromium/index.ts';
import { createBrowserExecutor } from './executors/browser/index.ts';
import type { Log } from './log.ts';
import type { ObservedAddresses } from './observed-addresses.ts';
import type { NodeOptions } from './options.ts';

/**
 * An address at which no proxy listens. `tryBrowser` loads no page, so its browser needs no proxy.
 */
const noProxyUrl = 'http://127.0.0.1:1';

/**
 * The message for the node owner if the agent runs as root without `--no-browser-sandbox`.
 * Otherwise undefined.
 */
export function refusalOfRoot({ isSandboxed }: NodeOptions, userId?: number): string | undefined {
  if (userId !== 0 || !isSandboxed) return undefined;
  return (
    'svc-node does not run a browser as root. Run it as a user without privileges, ' +
    'or give --no-browser-sandbox. Without the sandbox, a page can attack this machine.'
  );
}

/**
 * Returns the path of the browser that the node owner gave, or else of one that `findBrowser`
 * finds. Throws `CannotStartBrowser` if there is neither.
 */
export function browserOf({ browser, searchPath }: NodeOptions): string {
  const { platform } = process;
  const found = browser ?? findBrowser({ searchPath, platform });
  if (found !== undefined) return found;
  throw new CannotStartBrowser(
    `svc-node found no Chromium or Chrome. Install one (${installCommand(platform)}), ` +
      'or give the path of a browser with --browser. ' +
      'If the service is a sandbox, you can give --executor simulated instead.',
  );
}

/**
 * Starts the browser once and closes it. If the browser does not start, throws `CannotStartBrowser`
 * with a message for the node owner.
 */
export async function tryBrowser(
  binary: string,
  { stateDir, isSandboxed }: Pick<NodeOptions, 'stateDir' | 'isSandboxed'>,
): Promise<{ readonly version: string }> {
  const { signal } = new AbortController();
  const opened = await openBrowser({
    binary,
    isSandboxed,
    proxyUrl: noProxyUrl,
    profileDirectory: newProfileDirectory(stateDir),
    signal,
  });
  const version = opened.browser.version();
  await opened.close();
  return { version };
}

/**
 * Throws `CannotStartBrowser` if the browser does not start. Deletes the profiles of earlier
 * browsers, so the caller must have the lock of the state directory.
 */
export async function startBrowserExecutor(
  options: NodeOptions,
  observed: ObservedAddresses,
  log: Log,
): Promise<Executor> {
  const { isSandboxed, stateDir, hostMap, debugDir } = options;
  const refusal = refusalOfRoot(options, process.getuid?.());
  if (refusal !== undefined) throw new CannotStartBrowser(refusal);
  const leftovers = await deleteLeftoverProfiles(stateDir);
  if (leftovers > 0)
    log('info', 'deleted the profile directories that earlier browsers left behind', { leftovers });
  const binary = browserOf(options);
  const { version } = await tryBrowser(binary, options);
  log('info', 'checked that the browser starts', { binary, version, isSandboxed });
  if (debugDir !== undefined) await mkdir(debugDir, { recursive: true, mode: 0o700 });
  return createBrowserExecutor({
    binary,
    isSandboxed,
    stateDir,
    hostMap,
    observed: () => observed.list(),
    debugDir,
    log: (step, details) => log('info', step, details),
  });
}
