import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { browserFlags, proxyBypass } from './flags.ts';
import { explainLaunch } from './launch-error.ts';
import { type ProcessReading, readProcessTable } from './process-table.ts';
import { killTree } from './process-tree.ts';
import {
  createProfileDirectory,
  deleteProfileDirectory,
  type ProfileDirectory,
} from './profile-directory.ts';
import { filterProtocol } from './protocol-filter.ts';
import { type BrowserUsage, meterUsage, type UsageMeter } from './usage-meter.ts';
import { whileConnected } from './while-connected.ts';

export interface BrowserOptions {
  readonly binary: string;
  /** False with `--no-browser-sandbox`, and if `doctor` tries the browser without its sandbox. */
  readonly isSandboxed: boolean;
  /**
   * The proxy for all traffic of the pages, as `http://127.0.0.1:<port>`. The pages reach the
   * network in no other way.
   */
  readonly proxyUrl: string;
  /**
   * A path from `newProfileDirectory`. It must not exist yet. The directory is deleted when the
   * browser ends or cannot start.
   */
  readonly profileDirectory: string;
  /** The browser closes when this signal is aborted. */
  readonly signal: AbortSignal;
  /**
   * The most memory of the browser's process tree, as `memoryBytesOf` counts it. A browser with
   * more memory is ended. The default is 1.5 GiB.
   */
  readonly memoryBytesMax?: number;
}

type BrowserEnd = 'crashed' | 'memory' | 'closed';

export interface OpenBrowser {
  readonly browser: Browser;
  /** Keeps cookies, storage and caches of pages in memory only. */
  readonly context: BrowserContext;
  readonly page: Page;
  /** A private directory for files of the job. It is deleted after the browser has ended. */
  readonly directory: string;
  /** The usage of the browser from its start until now, or until its end if it has ended. */
  readonly usage: () => Promise<BrowserUsage>;
  /** Resolves with the reason when the browser ends. Its processes may run a little longer. */
  readonly whenGone: Promise<BrowserEnd>;
  /**
   * Kills the process tree and deletes the profile directory. Further calls wait for the first one.
   * Rejects if a process still runs 5 s after it was killed.
   */
  readonly close: () => Promise<void>;
}

/** The most memory (PSS) of a browser's process tree (CONTRACT 10). */
const memoryBytesMax = 1.5 * 1024 ** 3;
const launchTimeoutMs = 30_000;
/** Pages see the same window size and language on every node. */
const viewport = { width: 1280, height: 900 };
const locale = 'en-US';
/**
 * The PATH of the browser. The browser inherits no variable of the agent, because one of them may
 * contain the secret of the node.
 */
const searchPath = '/usr/local/bin:/usr/bin:/bin';

function environmentOf({ home, shortTemporary }: ProfileDirectory): Record<string, string> {
  return { PATH: searchPath, LANG: 'C.UTF-8', HOME: home, TMPDIR: shortTemporary };
}

/**
 * Starts the browser with a default context. This context writes to the disk, so no page opens in
 * it.
 */
async function launch(
  { binary, isSandboxed }: BrowserOptions,
  directory: ProfileDirectory,
): Promise<Browser> {
  const { profile, temporary } = directory;
  const persistent = await chromium.launchPersistentContext(profile, {
    executablePath: binary,
    ignoreDefaultArgs: true,
    args: browserFlags({ profileDirectory: profile, isSandboxed }),
    chromiumSandbox: isSandboxed,
    env: environmentOf(directory),
    artifactsDir: temporary,
    downloadsPath: temporary,
    acceptDownloads: false,
    timeout: launchTimeoutMs,
    // The agent alone decides when its browsers end, so Playwright must not close them at a signal.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
  const browser = persistent.browser();
  if (browser === null) throw new Error('Playwright returned no browser handle');
  return browser;
}

async function mainProcessOf(browser: Browser): Promise<ProcessReading> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  const pid = processInfo.find(({ type }) => type === 'browser')?.id;
  const found = readProcessTable().find((reading) => reading.pid === pid);
  if (found === undefined) {
    throw new Error('the process table does not have the main process of the browser');
  }
  return found;
}

class RunningBrowser {
  readonly #browser: Browser;
  readonly #main: ProcessReading;
  readonly #root: string;
  readonly #meter: UsageMeter;
  readonly #gone = Promise.withResolvers<BrowserEnd>();
  #closing: Promise<void> | undefined;
  #usage: BrowserUsage | undefined;

  constructor(browser: Browser, main: ProcessReading, root: string, bytesMax: number) {
    this.#browser = browser;
    this.#main = main;
    this.#root = root;
    const protocol = filterProtocol(browser, () => this.endLater('memory'));
    this.#meter = meterUsage(main, (bytes) => {
      // The messages of the browser count as memory, because the agent may keep them.
      if (bytes + protocol.keptBytes() > bytesMax) this.endLater('memory');
    });
    browser.on('disconnected', () => this.endLater('crashed'));
  }

  get whenGone(): Promise<BrowserEnd> {
    return this.#gone.promise;
  }

  async usage(): Promise<BrowserUsage> {
    return this.#usage ?? this.#meter.read();
  }

  /**
   * Ends the browser. Only the reason of the first call counts. Resolves when nothing of the
   * browser is left.
   */
  async end(reason: BrowserEnd): Promise<void> {
    this.#closing ??= this.#end(reason);
    await this.#closing;
  }

  /**
   * Starts `end` without waiting for it, and ignores its error. A later call of `end` rejects with
   * this error.
   */
  endLater(reason: BrowserEnd): void {
    this.end(reason).catch(() => {});
  }

  async #end(reason: BrowserEnd): Promise<void> {
    this.#meter.stop();
    this.#usage = this.#meter.read();
    this.#gone.resolve(reason);
    await killTree(this.#main);
    await this.#browser.close();
    await deleteProfileDirectory(this.#root);
  }
}

async function newPage(
  browser: Browser,
  proxyUrl: string,
): Promise<{ context: BrowserContext; page: Page }> {
  const context = await browser.newContext({
    proxy: { server: proxyUrl, bypass: proxyBypass },
    serviceWorkers: 'block',
    acceptDownloads: false,
    viewport,
    locale,
  });
  return { context, page: await context.newPage() };
}

/**
 * Opens a browser with a fresh profile directory, which `close` deletes. Throws
 * `CannotStartBrowser`, or the reason of `signal`.
 */
export async function openBrowser(options: BrowserOptions): Promise<OpenBrowser> {
  const { signal, binary, profileDirectory } = options;
  signal.throwIfAborted();
  let running: RunningBrowser | undefined;
  let browser: Browser | undefined;
  try {
    const directory = await createProfileDirectory(profileDirectory);
    browser = await launch(options, directory);
    const main = await whileConnected(browser, mainProcessOf(browser));
    running = new RunningBrowser(
      browser,
      main,
      profileDirectory,
      options.memoryBytesMax ?? memoryBytesMax,
    );
    const { context, page } = await whileConnected(browser, newPage(browser, options.proxyUrl));
    const open = running;
    page.on('crash', () => open.endLater('crashed'));
    const close = (): Promise<void> => open.end('closed');
    signal.addEventListener('abort', () => open.endLater('closed'), { once: true });
    signal.throwIfAborted();
    return {
      browser,
      context,
      page,
      directory: directory.temporary,
      usage: () => open.usage(),
      whenGone: open.whenGone,
      close,
    };
  } catch (error) {
    await running?.end('closed');
    await browser?.close();
    await deleteProfileDirectory(profileDirectory);
    signal.throwIfAborted();
    throw explainLaunch(binary, error);
  }
}
