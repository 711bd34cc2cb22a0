import { parseArgs } from 'node:util';
import { measureFairness } from './fairness.ts';
import { measureLatency } from './latency.ts';
import { measureThroughput } from './throughput.ts';
import { openWorld } from './world.ts';

/**
 * Measures the webhook deliverer (docs/PERFORMANCE.md).
 *
 * pnpm bench:webhooks [--part fairness|throughput|latency]… [--rounds N] [--rate N]
 */
const { values } = parseArgs({
  options: {
    part: { type: 'string', multiple: true, default: ['fairness', 'throughput', 'latency'] },
    rounds: { type: 'string', default: '3' },
    /**
     * The events per second of `latency`. The default is half of the rate that `throughput`
     * measured, or 400 without that part.
     */
    rate: { type: 'string' },
  },
});

const world = await openWorld();
const say = (line: string): void => void process.stdout.write(`${line}\n`);
try {
  let perSecond = 800;
  if (values.part.includes('throughput')) {
    perSecond = await measureThroughput(world, Number(values.rounds), say);
  }
  if (values.part.includes('latency')) {
    await measureLatency(world, Number(values.rate ?? perSecond / 2), say);
  }
  if (values.part.includes('fairness')) await measureFairness(world, say);
} finally {
  await world.close();
}
