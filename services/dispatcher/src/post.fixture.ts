import { randomBytes, randomUUID } from 'node:crypto';
import { microsPerCredit, toWireId, type Tier } from '@svc/domain';
import type { Producer, ReplyListener } from '@svc/queue';
import { newId, type Clock } from '@svc/runtime';
import { holdSubmission, type Store } from '@svc/store';

export interface PostOptions {
  readonly tier?: Tier;
  readonly payloadText?: string;
  /**
   * The amount of the hold. If a test settles the submission, the amount must cover the rate card's
   * worst case.
   */
  readonly maxMicros?: bigint;
  /**
   * If set, the job contains facts about the submission, with this `targetHost`. The `sentAtMs` of
   * the job is `agoMs` before the current time of the fixture's clock.
   */
  readonly says?: { readonly targetHost: string; readonly agoMs: number };
  /** The longest wait for the reply of the dispatcher. The default is 8 s. */
  readonly replyMsMax?: number;
  /** Called after the hold and before the job is enqueued. */
  readonly meanwhile?: (id: string) => Promise<unknown>;
}

export const payloadText =
  '{"applicationUrl":"https://Jobs.Example.com:8443/apply?x=1","atsType":"greenhouse","applicantProfile":{"z":12345678901234567890.10,"name":"Ana"},"jobContext":{"title":"Welder","company":"Example Works"}}';

interface Context {
  readonly store: Store;
  readonly producer: Producer;
  readonly replies: ReplyListener;
  readonly tenantId: string;
  readonly clock: Clock;
}

async function hold({ store, tenantId }: Context, options: PostOptions) {
  const id = newId();
  const held = await holdSubmission(store, {
    id,
    tenantId,
    idempotencyKey: randomUUID(),
    requestHash: randomBytes(32),
    requestId: `req-${id}`,
    jobType: 'ats.application',
    tier: options.tier ?? 'instant',
    payloadText: options.payloadText ?? payloadText,
    quote: {
      estimatedMicros: microsPerCredit,
      maxMicros: options.maxMicros ?? 10n * microsPerCredit,
      surgeMicros: microsPerCredit,
      rateCardVersion: 1,
    },
  });
  if (held.kind !== 'held') throw new Error(`not held: ${held.kind}`);
  return { id, heldAtMs: held.heldAtMs };
}

export async function post(context: Context, options: PostOptions = {}) {
  const { producer, replies, clock } = context;
  const { id, heldAtMs } = await hold(context, options);
  const replied = replies.wait(id, options.replyMsMax ?? 8_000);
  await options.meanwhile?.(id);
  const { says, tier = 'instant' } = options;
  const facts = { jobType: 'ats.application', tier, requestId: `req-${id}` };
  await producer.enqueue('dispatch', {
    submissionIds: [id],
    replyTo: replies.channel,
    ...(says === undefined
      ? {}
      : {
          held: {
            sentAtMs: Math.round(clock.nowMs() - says.agoMs),
            each: [{ heldAtMs, facts: { ...facts, targetHost: says.targetHost } }],
          },
        }),
  });
  return { id, wireId: toWireId('sub', id), replied };
}

export async function postJobs(
  context: Context,
  { jobs, idsPerJob }: { readonly jobs: number; readonly idsPerJob: number },
) {
  const { producer, replies } = context;
  const held = await Promise.all(Array.from({ length: jobs * idsPerJob }, () => hold(context, {})));
  const ids = held.map(({ id }) => id);
  const replied = ids.map((id) => replies.wait(id, 8_000));
  await producer.enqueueBulk(
    'dispatch',
    Array.from({ length: jobs }, (_, index) => ({
      job: {
        submissionIds: ids.slice(index * idsPerJob, (index + 1) * idsPerJob),
        replyTo: replies.channel,
      },
    })),
  );
  return await Promise.all(replied);
}
