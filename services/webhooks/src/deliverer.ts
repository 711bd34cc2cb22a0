import { attemptsMax } from '@svc/domain';
import { claimDue, type ClaimedAttempt, type EndpointClaim } from '@svc/store';
import { makeAttempt, recordMade, type AttemptDeps, type MadeAttempt } from './attempt.ts';
import { Schedule, type Asked, type Endpoint } from './schedule.ts';

export interface DelivererDeps extends AttemptDeps {
  /** Requests at a time to one endpoint. */
  readonly endpointRequestsMax: number;
  /** Requests at a time in all. */
  readonly requestsMax?: number;
}

const requestsMaxDefault = 512;
const claimFailedPauseMs = 1_000;
/** How long what is under way may take when the service ends; then it is given up. */
const drainMs = 7_000;

/**
 * Sends what is due (CONTRACT 6): it asks Postgres for due deliveries of the endpoints that
 * have room, many endpoints to a statement and one statement at a time (what becomes free
 * meanwhile is the next one), and makes the attempts it got. An attempt is claimed only when it can
 * be sent at once, so that none is used up in a queue.
 */
export class Deliverer {
  readonly #deps: DelivererDeps;
  readonly #schedule: Schedule;
  readonly #attemptsMax: number;
  readonly #shortestIntervalMs: number;
  readonly #ending = new AbortController();
  readonly #idlers: (() => void)[] = [];
  #isClaiming = false;
  #isPaused = false;
  #isClosed = false;

  constructor(deps: DelivererDeps) {
    this.#deps = deps;
    this.#attemptsMax = attemptsMax(deps.backoffSeconds);
    this.#shortestIntervalMs = Math.min(...deps.backoffSeconds) * 1_000;
    this.#schedule = new Schedule({
      endpointRequestsMax: deps.endpointRequestsMax,
      requestsMax: deps.requestsMax ?? requestsMaxDefault,
      monotonicMs: () => deps.clock.monotonicMs(),
      onReady: () => this.#pump(),
    });
  }

  /** Something may be due for these tenants; once too often does no harm. */
  wake(tenantIds: readonly string[]): void {
    for (const tenantId of tenantIds) this.#schedule.wake(tenantId);
    this.#pump();
  }

  /** While paused nothing new is claimed. */
  setPaused(isPaused: boolean): void {
    this.#isPaused = isPaused;
    this.#pump();
  }

  /** Resolves as soon as nothing is under way, and nothing known that may be sent now. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#idlers.push(resolve);
      this.#pump();
    });
  }

  /** Claims no more, waits for what is under way, and gives it up in the end. */
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
    } else if (this.#schedule.underWay === 0) {
      for (const resolve of this.#idlers.splice(0)) resolve();
    }
  }

  async #claim(asked: readonly Asked[]): Promise<void> {
    const asks = asked.map(({ ask }) => ask);
    let claims: EndpointClaim[] = [];
    try {
      claims = await claimDue(this.#deps.store, asks, this.#attemptsMax);
    } catch (error) {
      this.#deps.logger.error(
        { err: error, endpoints: asks.length },
        'could not claim what is due',
      );
      for (const { tenantId } of asks) this.#schedule.wakeAfter(tenantId, claimFailedPauseMs);
    }
    const byTenant = new Map(claims.map((claim) => [claim.tenantId, claim]));
    for (const one of asked) {
      const claim = byTenant.get(one.ask.tenantId);
      this.#schedule.claimed(one, claim);
      for (const attempt of claim?.attempts ?? []) void this.#run(one.endpoint, attempt);
    }
  }

  async #run(endpoint: Endpoint, attempt: ClaimedAttempt): Promise<void> {
    const made = await makeAttempt(this.#deps, attempt, this.#ending.signal);
    // The endpoint is free from here on; the record is this service's own affair. Only one that is
    // gone stays taken until that is written, so that nothing more is sent to it.
    const isGone = made.verdict.kind === 'gone';
    if (!isGone) this.#answered(endpoint, made);
    try {
      const retryInMs = await recordMade(this.#deps, made);
      if (retryInMs !== null && !this.#isClosed) {
        this.#schedule.wakeAfter(attempt.tenantId, retryInMs);
      }
    } catch (error) {
      // The claim runs out, and the attempt counts.
      const { deliveryId } = attempt;
      this.#deps.logger.error({ err: error, deliveryId }, 'could not record an attempt');
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
