import { isPortFree } from '@svc/local';

/** Below the ports that Linux gives to connections and to servers on port 0 (32,768 and more). */
const firstPort = 10_000;
const portsPerWorker = 2_000;
const workersMax = 10;

const worker = Number(process.env['VITEST_POOL_ID'] ?? 0) % workersMax;
let next = Math.floor(Math.random() * portsPerWorker);

/**
 * A free port of 127.0.0.1 that nobody takes while the process that listened on it starts again. Each worker of
 * a run has its own ports.
 */
export async function lastingPort(): Promise<number> {
  for (let tried = 0; tried < portsPerWorker; tried += 1) {
    const port = firstPort + worker * portsPerWorker + next;
    next = (next + 1) % portsPerWorker;
    if (await isPortFree(port)) return port;
  }
  throw new Error('this worker has no free port');
}
