import { isPortFree } from '@svc/local';

/**
 * The first port. All ports stay below 32,768, because Linux gives the higher ones to connections
 * and to servers on port 0.
 */
const firstPort = 10_000;
const portsPerWorker = 2_000;
/** Workers get different ports if at most this many run at once. */
const workersMax = 10;

const worker = Number(process.env['VITEST_POOL_ID'] ?? 0) % workersMax;
let next = Math.floor(Math.random() * portsPerWorker);

/**
 * Returns a free port of 127.0.0.1 that the system gives to nobody else, even while the process on
 * this port restarts. Throws if all ports of this worker are in use.
 */
export async function lastingPort(): Promise<number> {
  for (let tried = 0; tried < portsPerWorker; tried += 1) {
    const port = firstPort + worker * portsPerWorker + next;
    next = (next + 1) % portsPerWorker;
    if (await isPortFree(port)) return port;
  }
  throw new Error(
    'all ports of this test worker are in use; stop processes that earlier test runs left behind',
  );
}
