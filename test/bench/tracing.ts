import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { noTracing, traced } from '@svc/tracing';
import { startDriver } from './load/children.ts';
import { options } from './options.ts';
import { compared, measureShapes } from './parts/shapes.ts';
import type { Sample } from './sample.ts';
import { life64 } from './shapes.ts';
import { startProduct } from './systems/product.ts';
import { RunningSystems } from './systems/running.ts';

/**
 * Compares the CPU of whole lives with tracing off and with 1 % of them traced (decision 42).
 *
 * pnpm bench:tracing --rounds 30 --seconds 3
 */

/** Tracing may cost at most this much additional CPU, as a share of the CPU with tracing off. */
const shareMax = 0.03;
const nodes = 8;
const tenants = 100;
/**
 * The warm-up before the measurement. It is needed because Node compiles the services in this time.
 * Afterwards a submission costs a quarter less CPU.
 */
const warmUp = { rounds: 1, seconds: 12 };
/** The maximum number of tracing calls in the whole life of a submission without retries. */
const callsPerLife = 24;
const timedCalls = 5_000_000;

const collector = createServer((request, response) => {
  request.resume().once('end', () => response.end('{}'));
});
collector.listen(0, '127.0.0.1');
await once(collector, 'listening');
const address = collector.address();
if (address === null || typeof address === 'string') throw new Error('no port');
const env = {
  OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${address.port}`,
  OTEL_TRACES_SAMPLER_ARG: '0.01',
};

const dir = mkdtempSync(path.join(os.tmpdir(), 'svc-bench-tracing-'));
const driver = await startDriver();
const systems = new RunningSystems();
try {
  const off = await systems.get('off', () =>
    startProduct({ tenants, nodes, dir: path.join(dir, 'off') }),
  );
  const on = await systems.get('on', () =>
    startProduct({ tenants, nodes, dir: path.join(dir, 'on'), env }),
  );
  const both = [off, on];
  await measureShapes(driver, both, compared([life64], both), warmUp);
  const [result] = await measureShapes(driver, both, compared([life64], both), options);
  if (result === undefined) throw new Error('nothing was measured');
  report(result.samples[0] ?? [], result.samples[1] ?? [], await offMicros());
} finally {
  await systems.closeAll();
  await driver.close();
  collector.closeAllConnections();
  collector.close();
  rmSync(dir, { recursive: true, force: true });
}

/** The CPU microseconds that the tracing calls of one whole life take if tracing is off. */
async function offMicros(): Promise<number> {
  const step = { step: 'hold', subjectId: '01890a5d-ac96-774b-bcce-b302099a8057' } as const;
  const done = Promise.resolve();
  const work = (): Promise<void> => done;
  const before = process.cpuUsage();
  for (let call = 0; call < timedCalls; call += 1) void traced(noTracing, step, work);
  const { user, system } = process.cpuUsage(before);
  await done;
  return ((user + system) / timedCalls) * callsPerLife;
}

function report(off: readonly Sample[], on: readonly Sample[], offPerLife: number): void {
  const lines = off.map((sample, index) => {
    const other = on[index];
    if (other === undefined) throw new Error('a round has no sample with tracing on');
    const ratio = other.totalCpuMicros / sample.totalCpuMicros;
    return {
      ratio,
      text: `${micros(sample)} with tracing off, ${micros(other)} with tracing on, difference ${percent(ratio - 1)}`,
    };
  });
  for (const { text } of lines) process.stdout.write(`CPU per submission: ${text}\n`);
  const ratios = lines.map(({ ratio }) => ratio).toSorted((one, two) => one - two);
  const median = (ratios[Math.floor(ratios.length / 2)] ?? Number.NaN) - 1;
  const spread = `${percent((ratios[0] ?? Number.NaN) - 1)} to ${percent((ratios.at(-1) ?? Number.NaN) - 1)}`;
  process.stdout.write(
    `tracing off: the ${callsPerLife} tracing calls of one submission take ${offPerLife.toFixed(3)} µs\n` +
      `${median <= shareMax ? 'held' : 'BROKEN'}: traces of 1 % of the submissions cost ${percent(median)} more CPU ` +
      `(limit ${percent(shareMax)}), median of ${ratios.length} interleaved rounds, ${spread}\n`,
  );
  process.exitCode = median <= shareMax ? 0 : 1;
}

function micros({ totalCpuMicros }: Sample): string {
  return `${totalCpuMicros.toFixed(0)} µs`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
