import { setTimeout as delay } from 'node:timers/promises';
import { startStack, type TenantCredentials, type TestStack } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { job } from '../../support/job.ts';
import { keptConnections, send, signedBy } from '../../support/wire.ts';

/**
 * The trial of `pnpm fairness`: two gateways, two dispatchers and simulated nodes, which run each
 * submission for 1 to 3 s. One tenant asks alone, and then beside a tenant 50 times as fast.
 */
const seconds = Number(process.env['FAIRNESS_SECONDS'] ?? 0);
const slowPerSecond = Number(process.env['FAIRNESS_PER_SECOND'] ?? 1);
const timesAsFast = 50;
const nodes = 10;
/** The first asks of a trial are not counted. */
const warmUpMs = 15_000;
const connections = keptConnections(256);

interface Tally {
  asked: number;
  accepted: number;
  readonly others: Map<number, number>;
}

let sent = 0;

/** Asks at random times (Poisson) and counts the answers after the warm-up. */
async function load(
  stack: TestStack,
  tenant: TenantCredentials,
  perSecond: number,
  endMs: number,
): Promise<Tally> {
  const tally: Tally = { asked: 0, accepted: 0, others: new Map() };
  const countedFromMs = performance.now() + warmUpMs;
  const asks: Promise<void>[] = [];
  let nextMs = performance.now();
  while (nextMs < endMs) {
    nextMs += (-Math.log(1 - Math.random()) * 1_000) / perSecond;
    const waitMs = nextMs - performance.now();
    if (waitMs > 1) await delay(waitMs);
    asks.push(ask(stack, tenant, nextMs >= countedFromMs ? tally : undefined));
  }
  await Promise.all(asks);
  return tally;
}

async function ask(
  stack: TestStack,
  tenant: TenantCredentials,
  tally: Tally | undefined,
): Promise<void> {
  sent += 1;
  const url = stack.gatewayUrls[sent % stack.gatewayUrls.length] ?? '';
  const body = job(`fair ${sent}`);
  const wire = signedBy(tenant, { method: 'POST', target: '/v1/submissions', body });
  const { status } = await send(url, wire, connections);
  if (tally === undefined) return;
  tally.asked += 1;
  if (status === 201) tally.accepted += 1;
  else tally.others.set(status, (tally.others.get(status) ?? 0) + 1);
}

const partOf = ({ asked, accepted }: Tally): number => accepted / asked;

function row(name: string, tally: Tally): string {
  const others = [...tally.others].map(([status, count]) => `${count} × ${status}`).join(', ');
  const percent = `${(partOf(tally) * 100).toFixed(1)} %`.padStart(8);
  return `${name.padEnd(24)} ${String(tally.asked).padStart(6)} asked ${String(tally.accepted).padStart(6)} accepted ${percent}  ${others}`;
}

test.runIf(seconds > 0)(
  'beside a tenant 50 times as fast, a tenant keeps nine tenths of its acceptance rate',
  async () => {
    const stack = await startStack({ gateways: 2, dispatchers: 2, nodes });
    onTestFinished(async () => {
      connections.destroy();
      await stack.close();
    });
    const [slow, fast] = await Promise.all(
      ['slow', 'fast'].map((name) => stack.createTenant({ name, grantCredits: 10_000_000 })),
    );
    if (slow === undefined || fast === undefined) throw new Error('two tenants were created');
    await stack.query('UPDATE tenants SET rate_limit_per_second = 10000, rate_limit_burst = 10000');
    const until = (): number => performance.now() + warmUpMs + seconds * 1_000;
    const alone = await load(stack, slow, slowPerSecond, until());
    const endMs = until();
    const [beside, flood] = await Promise.all([
      load(stack, slow, slowPerSecond, endMs),
      load(stack, fast, slowPerSecond * timesAsFast, endMs),
    ]);
    const ratio = partOf(beside) / partOf(alone);
    const lines = [
      row('slow tenant alone', alone),
      row('slow tenant with flood', beside),
      row('flood', flood),
      `ratio ${ratio.toFixed(3)} (at least 0.9)`,
    ];
    process.stdout.write(`${lines.join('\n')}\n`);
    // The trial means nothing if the flood did not exhaust the slots.
    expect(partOf(flood)).toBeLessThan(0.8);
    expect(ratio).toBeGreaterThanOrEqual(0.9);
  },
  600_000,
);
