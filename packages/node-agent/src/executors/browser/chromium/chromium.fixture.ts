import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromiumBinary } from '@svc/local';
import { onTestFinished } from 'vitest';
import { openBrowser, type BrowserOptions, type OpenBrowser } from './open-browser.ts';
import { newProfileDirectory } from './profile-directory.ts';

const formPage = '<!doctype html><title>form</title><form><input name="a"></form>';

export async function listenForTest(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

export async function startFormProxy() {
  const requests: { readonly url: string; readonly cookie: string | undefined }[] = [];
  // A full Chromium also requests the icon of a page. These requests are left out.
  const ofPages = () => requests.filter(({ url }) => !url.endsWith('/favicon.ico'));
  const server = createServer((request, response) => {
    requests.push({ url: request.url ?? '', cookie: request.headers.cookie });
    response.setHeader('content-type', 'text/html').end(formPage);
  });
  server.on('connect', (request, socket) => {
    requests.push({ url: request.url ?? '', cookie: undefined });
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  const port = await listenForTest(server);
  return {
    url: `http://127.0.0.1:${port}`,
    urls: () => ofPages().map(({ url }) => url),
    cookies: () => ofPages().map(({ cookie }) => cookie),
  };
}

export function newStateDir(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'svc-browser-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** The browser has no sandbox by default, because tests may run as root. */
export async function openTestBrowser(
  options: Pick<BrowserOptions, 'proxyUrl'> & Partial<BrowserOptions> & { stateDir?: string },
): Promise<OpenBrowser> {
  const { stateDir = newStateDir(), ...given } = options;
  const opened = await openBrowser({
    binary: await chromiumBinary(),
    isSandboxed: false,
    profileDirectory: newProfileDirectory(stateDir),
    signal: new AbortController().signal,
    ...given,
  });
  onTestFinished(() => opened.close());
  return opened;
}

export function filesWith(text: string, directory: string): string[] {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => {
    const file = path.join(directory, name);
    try {
      return statSync(file).isFile() && readFileSync(file).includes(text);
    } catch {
      // A file that was deleted meanwhile, or that cannot be read, is left out.
      return false;
    }
  });
}
