import { mkdir, rm, statfs, writeFile } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { browserOf, refusalOfRoot, tryBrowser } from '../browser-node.ts';
import { startEgressProxy } from '../executors/browser/egress/proxy.ts';
import type { NodeOptions } from '../options.ts';
import { type Finding, fail, pass } from './finding.ts';

/**
 * The least free space on the disk of the state directory. The profile directory, the cache and the
 * uploads of a browser need less.
 */
const freeBytesMin = 1024 ** 3;
const bytesPerGb = 1e9;
/**
 * A public host that is expected to answer. The check opens a connection to the host and sends
 * nothing on it.
 */
const egressHost = 'example.com:443';
const egressTimeoutMs = 15_000;

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export async function checkDisk({ stateDir }: NodeOptions): Promise<Finding> {
  const trial = path.join(stateDir, `doctor-${process.pid}`);
  try {
    await mkdir(stateDir, { recursive: true, mode: 0o700 });
    await writeFile(trial, 'trial', { mode: 0o600, flush: true });
  } catch (error) {
    return fail(
      'disk',
      `Cannot write to ${stateDir} (${messageOf(error)}). Check its permissions, or give another --state-dir.`,
    );
  }
  await rm(trial, { force: true });
  const { bavail, bsize } = await statfs(stateDir);
  const free = `${((bavail * bsize) / bytesPerGb).toFixed(1)} GB`;
  return bavail * bsize < freeBytesMin
    ? fail('disk', `${stateDir} has only ${free} free. At least 1.07 GB must be free.`)
    : pass('disk', `${stateDir} has ${free} free.`);
}

export async function checkBrowser(options: NodeOptions): Promise<Finding[]> {
  let binary: string;
  try {
    binary = browserOf(options);
  } catch (error) {
    return [
      fail('browser', messageOf(error)),
      fail('sandbox', 'Not checked, because there is no browser.'),
    ];
  }
  const refusal = refusalOfRoot(options, process.getuid?.());
  const problem = refusal ?? (await launchProblem(binary, options));
  if (problem === undefined) {
    const sandbox = options.isSandboxed
      ? pass('sandbox', 'The browser runs in its sandbox.')
      : pass(
          'sandbox',
          'The browser runs without its sandbox: --no-browser-sandbox or SVC_NODE_NO_BROWSER_SANDBOX is set.',
        );
    return [pass('browser', `${binary} starts.`), sandbox];
  }
  // If the browser starts without its sandbox, only the check `sandbox` fails. Otherwise both
  // checks fail.
  const browserProblem = await launchProblem(binary, { ...options, isSandboxed: false });
  const browser =
    browserProblem === undefined
      ? pass('browser', `${binary} starts.`)
      : fail('browser', browserProblem);
  const sandbox = options.isSandboxed ? problem : 'Not checked: the browser does not start.';
  return [browser, fail('sandbox', sandbox)];
}

async function launchProblem(binary: string, options: NodeOptions): Promise<string | undefined> {
  try {
    await tryBrowser(binary, options);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

async function openTunnel(proxyUrl: string, target: string): Promise<string> {
  const { hostname, port } = new URL(proxyUrl);
  return await new Promise((resolve, reject) => {
    const socket = net.connect(Number(port), hostname);
    socket.setTimeout(egressTimeoutMs, () =>
      socket.destroy(new Error('there was no answer within 15 s')),
    );
    socket.once('data', (data) => {
      resolve(data.toString('latin1').split('\r\n', 1)[0] ?? '');
      socket.destroy();
    });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('the proxy of svc-node closed the connection')));
    socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n\r\n`);
  });
}

/**
 * Checks that an egress proxy reaches `egressHost`. All traffic of the pages of a job passes
 * through such a proxy.
 */
export async function checkEgress({ hostMap }: NodeOptions): Promise<Finding> {
  const proxy = await startEgressProxy({ hostMap });
  try {
    const status = await openTunnel(proxy.url, egressHost);
    if (status.includes(' 200')) return pass('egress', `${egressHost} can be reached.`);
    const why = 'Check the name server, and allow connections to port 443.';
    return fail('egress', `${egressHost} cannot be reached. ${why}`);
  } catch (error) {
    return fail(
      'egress',
      `${egressHost} cannot be reached (${messageOf(error)}). Check the network and the firewall.`,
    );
  } finally {
    await proxy.close();
  }
}
