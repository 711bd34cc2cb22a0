import {
  connectScriptedNode,
  startStack,
  type TenantCredentials,
  type TestStack,
} from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { job } from '../../support/job.ts';
import { keptConnections, send, signedBy } from '../../support/wire.ts';
import { waitUntilTime } from './pace.ts';

/**
 * The part of `pnpm fleet:fairness` that runs the whole stack. A tenant first submits alone. Then
 * it submits while another tenant submits 50 times as often.
 */
const seconds = Number(process.env['FAIRNESS_SECONDS'] ?? 0);
const slowPerSecond = Number(process.env['FAIRNESS_PER_SECOND'] ?? 1);
const timesAsFast = 50;
const partMin = 0.9;
const nodes = 4;
const slotsPerNode = 5;
const runMs = 2_000;
/** Submissions in this time at the start of a trial are not counted. */
const warmUpMs = 15_000;
/**
 * An answer that takes longer counts as unmeasured. Only a slow machine causes such an answer,
 * because the service refuses at once if no slot is free.
 */
const lateMs = 3_000;
const unmeasuredPartMax = 0.02;

interface Tally {
  asked: number;
  accepted: number;
  /** Late answers, and answers other than 201 and 503 `dispatch_unavailable` (no free slot). */
  unmeasured: number;
  readonly others: Map<string, number>;
}

let sent = 0;
const connections = keptConnections(256);
const endOfTrialMs = (): number => performance.now() + warmUpMs + seconds * 1_000;

/** Links a node. It completes each submission after a random time of 0.5 to 1.5 times `runMs`. */
async function linkNode(stack: TestStack, index: number): Promise<void> {
  const { nodeId, nodeSecret: secret } = await stack.createNode(`node ${index}`);
  const link = stack.nodeLinkUrls[index % stack.nodeLinkUrls.length] ?? '';
  const node = await connectScriptedNode({ link, nodeId, secret, slots: slotsPerNode });
  node.autoPilot({
    outcome(submissionId) {
      setTimeout(
        () => node.send({ type: 'completed', submissionId, usage: {}, result: {} }),
        runMs * (0.5 + Math.random()),
      );
      return undefined;
    },
  });
}

/**
 * Submits at random times (Poisson) until `endMs`, and counts the answers to submissions after the
 * warm-up.
 */
async function load(
  stack: TestStack,
  tenant: TenantCredentials,
  { perSecond, endMs }: { readonly perSecond: number; readonly endMs: number },
): Promise<Tally> {
  const tally: Tally = { asked: 0, accepted: 0, unmeasured: 0, others: new Map() };
  const countedFromMs = performance.now() + warmUpMs;
  const asks: Promise<void>[] = [];
  let nextMs = performance.now();
  while (nextMs < endMs) {
    nextMs += (-Math.log(1 - Math.random()) * 1_000) / perSecond;
    await waitUntilTime(nextMs);
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
  const beganMs = performance.now();
  const { status, body: answer } = await send(url, wire, connections);
  if (tally === undefined) return;
  tally.asked += 1;
  const isLate = performance.now() - beganMs > lateMs;
  if (status === 201) tally.accepted += 1;
  const kind = `${status} ${status === 201 ? '' : String(answer['code'])}${isLate ? ' late' : ''}`;
  if (kind !== '201 ') tally.others.set(kind, (tally.others.get(kind) ?? 0) + 1);
  if (kind !== '201 ' && kind !== '503 dispatch_unavailable') tally.unmeasured += 1;
}

const partOf = ({ asked, accepted }: Tally): number => accepted / asked;

function row(name: string, tally: Tally): string {
  const others = [...tally.others].map(([kind, count]) => `${count} × ${kind}`).join(', ');
  const percent = `${(partOf(tally) * 100).toFixed(1)} %`.padStart(8);
  return `${name.padEnd(24)} ${String(tally.asked).padStart(6)} asked ${String(tally.accepted).padStart(6)} accepted ${percent}  ${others}`;
}

test.runIf(seconds > 0)(
  'next to a tenant 50 times as fast, a tenant keeps nine tenths of its acceptance rate',
  async () => {
    const stack = await startStack({ gateways: 2, dispatchers: 2 });
    onTestFinished(async () => {
      connections.destroy();
      await stack.close();
    });
    await Promise.all(Array.from({ length: nodes }, (_, index) => linkNode(stack, index)));
    const [slow, fast] = await Promise.all(
      ['slow', 'fast'].map((name) => stack.createTenant({ name, grantCredits: 10_000_000 })),
    );
    if (slow === undefined || fast === undefined)
      throw new Error('the two tenants were not created');
    await stack.query('UPDATE tenants SET rate_limit_per_second = 10000, rate_limit_burst = 10000');
    const alone = await load(stack, slow, { perSecond: slowPerSecond, endMs: endOfTrialMs() });
    const endMs = endOfTrialMs();
    const [withFlood, flood] = await Promise.all([
      load(stack, slow, { perSecond: slowPerSecond, endMs }),
      load(stack, fast, { perSecond: slowPerSecond * timesAsFast, endMs }),
    ]);
    const kept = partOf(withFlood) / partOf(alone);
    const lines = [
      `whole stack, ${nodes * slotsPerNode} slots`,
      row('slow tenant alone', alone),
      row('slow tenant with flood', withFlood),
      row('flood', flood),
      `kept ${kept.toFixed(3)} (at least ${partMin})`,
    ];
    process.stdout.write(`${lines.join('\n')}\n`);
    for (const { asked, unmeasured } of [alone, withFlood, flood]) {
      expect(unmeasured / asked, 'the machine is too slow for this rate').toBeLessThan(
        unmeasuredPartMax,
      );
    }
    // The trial means nothing if the flood did not exhaust the slots.
    expect(partOf(flood)).toBeLessThan(0.8);
    expect(kept).toBeGreaterThanOrEqual(partMin);
  },
  1_800_000,
);
