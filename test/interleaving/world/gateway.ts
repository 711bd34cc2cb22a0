import { microsPerCredit } from '@svc/domain';
import { createDispatchEnqueuer, createRateLimiter } from '@svc/queue';
import { newId } from '@svc/runtime';
import { isUnavailable, rateCardOfVersion, type TenantCredentials } from '@svc/store';
import { noTracing } from '@svc/tracing';
import type { GatewayDeps } from '../../../services/gateway/src/deps.ts';
import type { Answer } from '../../../services/gateway/src/http/answer.ts';
import type { HoldReply, TenantRequest } from '../../../services/gateway/src/http/endpoint.ts';
import { createPricing } from '../../../services/gateway/src/pricing/pricing.ts';
import { cancelSubmissionEndpoint } from '../../../services/gateway/src/submissions/cancel-submission.ts';
import { createSubmissionEndpoint } from '../../../services/gateway/src/submissions/create-submission.ts';
import { changeSettingsEndpoint } from '../../../services/gateway/src/webhooks/settings.ts';
import { SimulatedProcess } from '../schedule/process.ts';
import { redisOf, redisPrefix, start, storeOf, type Ground } from './ground.ts';

export interface Ask {
  readonly tenant: TenantCredentials;
  readonly what: 'create' | 'cancel' | 'settings';
  /** The wire id of the submission to cancel. Empty for `create` and `settings`. */
  readonly submissionId: string;
  readonly body: object;
}

/**
 * The result of a request. In place of `thrown`, a real server answers 500, or 503 if a dependency
 * is unavailable.
 */
export type Replied = { readonly kind: 'answered'; readonly answer: Answer } | ThrownAnswer;
interface ThrownAnswer {
  readonly kind: 'thrown';
  readonly isUnavailable: boolean;
  readonly error: unknown;
}

/** A gateway process without its HTTP server: the handlers of creation, cancel and settings. */
export class SimulatedGateway {
  readonly process: SimulatedProcess;
  readonly #ground: Ground;
  readonly #handlers: Record<Ask['what'], (request: TenantRequest) => Promise<Answer>>;

  constructor(ground: Ground, name: string, skewMs: number) {
    this.#ground = ground;
    this.process = new SimulatedProcess(ground.scheduler, name, skewMs);
    const deps = this.process.run(() => depsOf(ground, this.process));
    const creation = createSubmissionEndpoint(deps);
    const cancel = cancelSubmissionEndpoint(deps);
    const settings = changeSettingsEndpoint(deps);
    this.#handlers = {
      create: async (request) => answerOf(await creation.handle(request)),
      cancel: (request) => cancel.handle(request),
      settings: (request) => settings.handle(request),
    };
  }

  /** Handles a request. If the process is killed before the answer, `onAnswer` is never called. */
  ask({ tenant, what, submissionId, body }: Ask, onAnswer: (replied: Replied) => void): void {
    const request = {
      requestId: this.process.run(() => newId()),
      trace: noTracing.request({}),
      target: '/',
      id: submissionId,
      body: Buffer.from(JSON.stringify(body)),
      contentType: 'application/json',
      contentEncoding: undefined,
      tenant,
      keyId: tenant.keyIds[0] ?? '',
    };
    start(this.#ground, this.process, async () => {
      try {
        const answer = await this.#handlers[what](request);
        onAnswer({ kind: 'answered', answer });
      } catch (error) {
        onAnswer({ kind: 'thrown', isUnavailable: isUnavailable(error), error });
      }
    });
  }

  kill(): void {
    this.process.kill();
  }
}

function answerOf(reply: HoldReply): Answer {
  if (reply.kind === 'stale_credentials')
    throw new Error('the credentials of a tenant changed, but no simulated action changes them');
  return reply.answer;
}

function depsOf(ground: Ground, process: SimulatedProcess): GatewayDeps {
  const { messaging, logger, rig } = ground;
  const store = storeOf(ground, process);
  const producer = messaging.producerOf(process);
  const replies = messaging.listenerOf(process);
  return {
    environment: 'sandbox',
    allowPrivateNetworks: true,
    signupsPerHour: 0,
    signupWebhookAttemptsPerHour: 0,
    signupInFlightMax: 0,
    limiter: createRateLimiter({
      redis: rig.redis,
      prefix: redisPrefix,
      monotonicMs: () => process.monotonicMs(),
      logger,
    }),
    store,
    redis: redisOf(ground, process),
    redisPrefix,
    producer,
    enqueueDispatch: createDispatchEnqueuer(producer, {
      replyTo: replies.channel,
      nowMs: () => process.nowMs(),
    }),
    replies,
    pricing: createPricing({
      loadRateCard: (version) => rateCardOfVersion(store, version),
      loadTypicalUsage: async () => null,
      loadSurgeMicros: async () => microsPerCredit,
      clock: process,
    }),
    eventWaiters: { wait: () => Promise.resolve('ended'), close: () => {} },
    rail: null,
    keyUses: { used() {}, async flush() {}, async close() {} },
    tracing: noTracing,
    requestHashKey: new Uint8Array(32),
    newId,
    clock: process,
    logger,
  };
}
