import { attemptsMax, toWireId, webhookRequestsDefault } from '@svc/domain';
import { claimDue, type ClaimedAttempt, type EndpointClaim } from '@svc/store';
import { deliverStep } from './attempt-trace.ts';
import { makeAttempt, recordMade, type AttemptDeps, type MadeAttempt } from './attempt.ts';
import { Schedule, type Asked, type Endpoint } from './schedule.ts';

export interface DelivererDeps extends AttemptDeps {
  readonly endpointRequestsMax: number;
  /** Default: `webhookRequestsDefault`. */
  readonly requestsMax?: number;
}

const claimFailedPauseMs = 1_000;
/** When the service stops, requests in flight have this long to end. Then they are aborted. */
const drainMs = 7_000;

/**
 * Sends the deliveries that are due (CONTRACT 6). It claims only attempts that can be sent
 * immediately, because a claimed attempt counts as made.
 */
export class Deliverer {
  readonly #deps: DelivererDeps;
  readonly #schedule: Schedule;
  readonly #attemptsMax: number;
  readonly requestsMax: number;
  readonly #shortestIntervalMs: number;
  readonly #ending = new AbortController();
  readonly #idlers: (() => void)[] = [];
  #isClaiming = false;
  #isPaused = false;
  #isClosed = false;

  constructor(deps: DelivererDeps) {
    this.#deps = deps;
    this.requestsMax = deps.requestsMax ?? webhookRequestsDefault;
    this.#attemptsMax = attemptsMax(deps.backoffSeconds);
    this.#shortestIntervalMs = Math.min(...deps.backoffSeconds) * 1_000;
    this.#schedule = new Schedule({
      endpointRequestsMax: deps.endpointRequestsMax,
      requestsMax: this.requestsMax,
      monotonicMs: () => deps.clock.monotonicMs(),
      onReady: () => this.#pump(),
    });
  }

  /**
   * Makes the next claims ask for the due deliveries of these tenants, at all their endpoints. A
   * call for a tenant without due deliveries does no harm.
   */
  wake(tenantIds: readonly string[]): void {
    // This marks only the URL of the tenant's settings as due. The claim for this URL also returns
    // the tenant's other endpoints that have due deliveries.
    for (const tenantId of tenantIds) this.#schedule.wake(tenantId);
    this.#pump();
  }

  wakeTargets(targets: readonly { tenantId: string; targetId: string }[]): void {
    for (const { tenantId, targetId } of targets) this.#schedule.wake(tenantId, targetId);
    this.#pump();
  }

  get inFlight(): number {
    return this.#schedule.inFlight;
  }

  get breakersOpen(): number {
    return this.#schedule.breakersOpen;
  }

  forgetOldBreakers(): void {
    this.#schedule.forgetOldBreakers();
  }

  /** While the deliverer is paused, it claims no attempts. Attempts in flight continue. */
  setPaused(isPaused: boolean): void {
    this.#isPaused = isPaused;
    this.#pump();
  }

  /**
   * Resolves as soon as no attempt is in flight and nothing can be claimed. While paused or closed,
   * nothing can be claimed.
   */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#idlers.push(resolve);
      this.#pump();
    });
  }

  /**
   * Stops claiming, and waits until the attempts in flight have ended and are recorded. Requests
   * that still run after `drainMs` are aborted.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#schedule.close();
    const giveUp = setTimeout(() => this.#ending.abort(), drainMs);
    await this.idle();
    clearTimeout(giveUp);
  }

  #pump(): void {
    if (this.#isClaiming) return;
    const asked = this.#isClosed || this.#isPaused ? [] : this.#schedule.take();
    if (asked.length > 0) {
      this.#isClaiming = true;
      void this.#claim(asked).finally(() => {
        this.#isClaiming = false;
        this.#pump();
      });
    } else if (this.#schedule.inFlight === 0) {
      for (const resolve of this.#idlers.splice(0)) resolve();
    }
  }

  /**
   * Makes one call for the URLs of settings and one for endpoints. If one call fails, the other may
   * have committed, and its attempts must be sent.
   */
  async #claim(asked: readonly Asked[]): Promise<void> {
    const atEndpoints = asked.filter(({ ask }) => typeof ask.targetId === 'string');
    const atSettings = asked.filter((one) => !atEndpoints.includes(one));
    const parts = [atSettings, atEndpoints].filter((part) => part.length > 0);
    await Promise.all(parts.map((part) => this.#claimPart(part)));
  }

  async #claimPart(asked: readonly Asked[]): Promise<void> {
    const asks = asked.map(({ ask }) => ask);
    const startMs = this.#deps.tracing.nowMs();
    let claims: EndpointClaim[] = [];
    try {
      claims = await claimDue(this.#deps.store, asks, this.#attemptsMax);
    } catch (error) {
      this.#deps.logger.error(
        { err: error, endpoints: asks.length },
        'could not claim due deliveries',
      );
      for (const { tenantId, targetId = null } of asks) {
        this.#schedule.wakeAfter(tenantId, targetId, claimFailedPauseMs);
      }
    }
    this.#recordClaim(claims, startMs);
    const byKey = new Map(claims.map((claim) => [claim.targetId ?? claim.tenantId, claim]));
    for (const one of asked) {
      const claim = byKey.get(one.ask.targetId ?? one.ask.tenantId);
      this.#schedule.claimed(one, claim);
      for (const attempt of claim?.attempts ?? []) void this.#run(one.endpoint, attempt);
    }
  }

  #recordClaim(claims: readonly EndpointClaim[], startMs: number): void {
    const { tracing } = this.#deps;
    if (!tracing.isOn) return;
    const attempts = claims.flatMap((claim) => claim.attempts);
    const members = attempts.map((attempt) => deliverStep(attempt).ref);
    tracing.recordBatch({ name: 'claim deliveries batch', kind: 'client', members, startMs });
  }

  async #run(endpoint: Endpoint, attempt: ClaimedAttempt): Promise<void> {
    const made = await makeAttempt(this.#deps, attempt, this.#ending.signal);
    // After a 410, the endpoint gets its capacity back only when `recordMade`, which disables the
    // URL, has ended. Otherwise one more request could be sent to the URL.
    const isGone = made.verdict.kind === 'gone';
    if (!isGone) this.#answered(endpoint, made);
    try {
      const retryInMs = await recordMade(this.#deps, made);
      if (retryInMs !== null && !this.#isClosed) {
        this.#schedule.wakeAfter(attempt.tenantId, attempt.targetId, retryInMs);
      }
    } catch (error) {
      // The claim expires, and the attempt counts as made.
      const deliveryId = toWireId('dlv', attempt.deliveryId);
      this.#deps.logger.error(
        { err: error, deliveryId },
        'could not record the result of a webhook attempt',
      );
    }
    if (isGone) this.#answered(endpoint, made);
    this.#schedule.recorded();
    this.#pump();
  }

  #answered(endpoint: Endpoint, made: MadeAttempt): void {
    this.#schedule.answered(endpoint, this.#breakerFacts(made));
    this.#pump();
  }

  #breakerFacts({ attempt, outcome, verdict }: MadeAttempt) {
    return {
      url: attempt.url,
      timedOut: outcome.kind === 'failed' && outcome.timedOut,
      nextIntervalMs: verdict.kind === 'retry' ? verdict.delayMs : this.#shortestIntervalMs,
    };
  }
}
