import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  ApiError,
  type AtsApplicationPayload,
  type Client,
  createClient,
  type EndedSubmission,
  type SubmissionCreated,
  type Usage,
} from '@svc/client';
import type { DemoEvents } from './demo-events.ts';
import type { DemoWorld } from './demo-tenant.ts';
import type { NodeWatch } from './node-watch.ts';
import type { Progress, Say } from './progress.ts';
import { svc } from './svc-command.ts';

export interface Demo {
  readonly gatewayUrl: string;
  readonly world: DemoWorld;
  readonly events: DemoEvents;
  readonly nodeWatch: NodeWatch;
  readonly env: NodeJS.ProcessEnv;
  readonly progress: Progress;
  readonly application: AtsApplicationPayload;
}

/**
 * `follow` waits at most this long until a node of this stack logs the assignment. After that, it
 * waits at most this long until the submission ends. A run takes 1 to 3 s.
 */
const lifeBoundMs = 60_000;
const dispatchBoundMs = 10_000;
const pollMs = 100;
const decimalsShown = 3;
/** If the demo tenant has fewer available credits than this, it gets `creditsGranted` more. */
const creditsLow = 1_000;
const creditsGranted = 10_000;

/**
 * Sends one `ats.application` over the public API, as a tenant would, and shows its steps. Throws
 * if the end of the submission or its event takes too long.
 */
export async function runDemo(demo: Demo): Promise<void> {
  const { gatewayUrl, world, progress } = demo;
  const { tenantId, hmacSecret } = world.tenant;
  const client = createClient({ baseUrl: gatewayUrl, tenantId, secret: hmacSecret });
  await topUp(client, demo);
  const created = await progress.step('POST /v1/submissions: one ats.application', async (say) => {
    const submission = await submit(client, demo.application);
    say(`quote: about ${submission.quote.estimated} credits, at most ${submission.quote.max}`);
    const { after, held } = submission.balance;
    say(`hold: ${held} credits; ${after} left to spend`);
    return submission;
  });
  const ended = await progress.step(`${created.submissionId} runs on a node`, (say) =>
    follow(client, demo, created, say),
  );
  await progress.step('Settlement, in one transaction', async (say) => {
    const { failure } = ended;
    say(
      `status: ${ended.status}${failure === null ? '' : ` (${failure.code}: ${failure.message})`}`,
    );
    say(`charged ${ended.actualCredits} credits, returned ${ended.refundedCredits}`);
    const { balance, held, available } = await client.balance();
    say(`balance: ${balance}, held ${held}, available ${available}`);
  });
  await progress.step(demo.events.title, (say) => showEvent(demo, created, say));
}

async function topUp(client: Client, { world, env, progress }: Demo): Promise<void> {
  const { available } = await client.balance();
  if (available >= creditsLow) return;
  await progress.step(`The demo tenant has ${available} credits left`, async (say) => {
    const { tenantId } = world.tenant;
    const reference = `demo-${randomUUID()}`;
    await svc(['credits', 'grant', tenantId, `${creditsGranted}`, '--reference', reference], env);
    say(`granted ${creditsGranted} more credits`);
  });
}

/**
 * Creates the submission. While no node can take it (`dispatch_unavailable`), tries again with the
 * same idempotency key for at most `dispatchBoundMs`.
 */
async function submit(client: Client, payload: AtsApplicationPayload): Promise<SubmissionCreated> {
  const idempotencyKey = `demo-${randomUUID()}`;
  const startedMs = performance.now();
  for (;;) {
    try {
      return await client.submit(
        {
          idempotencyKey,
          jobType: 'ats.application',
          payload,
        },
        { retryDispatchUnavailable: false },
      );
    } catch (error) {
      const isEarly = error instanceof ApiError && error.code === 'dispatch_unavailable';
      if (!isEarly || performance.now() - startedMs > dispatchBoundMs) throw error;
      await delay(pollMs);
    }
  }
}

async function follow(
  client: Client,
  { nodeWatch }: Demo,
  { submissionId }: SubmissionCreated,
  say: Say,
): Promise<EndedSubmission> {
  const node = await nodeWatch.assignedNode(submissionId, lifeBoundMs);
  say(
    node === undefined ? 'accepted by a node, probably outside this stack' : `accepted by ${node}`,
  );
  const startedMs = performance.now();
  let shown = '';
  while (performance.now() - startedMs < lifeBoundMs) {
    const submission = await client.getSubmission(submissionId);
    const now = describe(submission.status, submission.usage);
    if (now !== shown) say(now);
    shown = now;
    if (hasEnded(submission)) return submission;
    await delay(pollMs);
  }
  throw new Error(`${submissionId} did not end within ${lifeBoundMs} ms`);
}

function hasEnded(submission: { readonly status: string }): submission is EndedSubmission {
  return ['submitted', 'failed', 'cancelled'].includes(submission.status);
}

function describe(status: string, usage: Usage): string {
  const metered = Object.entries(usage).map(
    ([unit, amount]) => `${unit} ${Number(amount.toFixed(decimalsShown))}`,
  );
  return metered.length === 0 ? status : `${status}: ${metered.join(', ')}`;
}

async function showEvent(
  { events }: Demo,
  { submissionId }: SubmissionCreated,
  say: Say,
): Promise<void> {
  const event = await events.waitFor(({ data }) => data['submissionId'] === submissionId);
  say(`${event.type}, ${event.delivery}`);
  say(event.verdict);
}
