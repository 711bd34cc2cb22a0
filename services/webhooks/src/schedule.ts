import type { EndpointAsk, EndpointClaim } from '@svc/store';
import { afterAttempt, closedBreaker, isProbed, type Breaker } from './breaker.ts';

/** What a deliverer knows of a tenant's endpoint while it has to do with it. */
export interface Endpoint {
  readonly tenantId: string;
  /** Requests that are under way or being claimed. */
  inFlight: number;
  /** Whether something may be due there. */
  due: boolean;
  /** The tenant's hour is spent until then, by the monotonic clock. */
  cappedUntilMs: number;
  breaker: Breaker;
  /** Set while a timer will bring it back. */
  isResting: boolean;
}

/** An endpoint, and for how many attempts it has room. */
export interface Asked {
  readonly endpoint: Endpoint;
  readonly ask: EndpointAsk;
}

export interface ScheduleOptions {
  /** Requests at a time to one endpoint. */
  readonly endpointRequestsMax: number;
  /** Requests at a time in all; connections and memory follow this and no backlog. */
  readonly requestsMax: number;
  readonly monotonicMs: () => number;
  /** Called when time has made an endpoint ready. */
  readonly onReady: () => void;
}

/** The last of the slots are for endpoints that have none. */
const reservedShare = 0.25;
/** What one statement claims. */
const claimedEndpointsMax = 64;
const claimedAttemptsMax = 128;
/** A retry that is further away, or one too many to be remembered, is found when it is due. */
const rememberedMsMax = 60_000;
const rememberedMax = 4_096;
/** An alarm a moment late finds the delivery due; a moment early would leave it to the next look. */
const alarmMarginMs = 25;

/**
 * Whose turn it is (docs/decisions/0013): endpoints that may have something due come one after
 * another, each with a bounded number of requests, and one whose attempts are put off is left out.
 * It is all in memory, and none of it has to survive: what is due is in Postgres.
 */
export class Schedule {
  readonly #options: ScheduleOptions;
  readonly #reserved: number;
  readonly #endpoints = new Map<string, Endpoint>();
  /** Due, with room, not put off; in the order in which they are asked for. */
  readonly #ready = new Set<Endpoint>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #remembered = 0;
  #underWay = 0;

  constructor(options: ScheduleOptions) {
    this.#options = options;
    this.#reserved = Math.floor(options.requestsMax * reservedShare);
  }

  /** Attempts that are being claimed, sent or recorded. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Something may be due for this tenant. */
  wake(tenantId: string): void {
    const endpoint = this.#endpoints.get(tenantId) ?? newEndpoint(tenantId);
    this.#endpoints.set(tenantId, endpoint);
    endpoint.due = true;
    this.#place(endpoint);
  }

  /** The same later; what is not remembered, the reconciler finds. */
  wakeAfter(tenantId: string, delayMs: number): void {
    if (delayMs > rememberedMsMax || this.#remembered >= rememberedMax) return;
    this.#remembered += 1;
    this.#after(delayMs + alarmMarginMs, () => {
      this.#remembered -= 1;
      this.wake(tenantId);
    });
  }

  /** Whom to claim for, and for how much; this counts as under way from here on. */
  take(): Asked[] {
    const asked: Asked[] = [];
    let attempts = 0;
    for (const endpoint of this.#ready) {
      if (asked.length === claimedEndpointsMax || attempts >= claimedAttemptsMax) break;
      const free = this.#options.requestsMax - this.#underWay;
      if (free <= 0) break;
      const attemptsMax = Math.min(this.#roomAt(endpoint), this.#shareOf(endpoint, free));
      if (attemptsMax <= 0) continue;
      this.#ready.delete(endpoint);
      endpoint.due = false;
      endpoint.inFlight += attemptsMax;
      this.#underWay += attemptsMax;
      attempts += attemptsMax;
      asked.push({ endpoint, ask: { tenantId: endpoint.tenantId, attemptsMax } });
    }
    return asked;
  }

  /** What came of asking; undefined where the claim failed. */
  claimed({ endpoint, ask }: Asked, claim: EndpointClaim | undefined): void {
    const unused = ask.attemptsMax - (claim?.attempts.length ?? 0);
    endpoint.inFlight -= unused;
    this.#underWay -= unused;
    if (claim?.more === true) endpoint.due = true;
    if (claim !== undefined && claim.putOffMs > 0) {
      endpoint.cappedUntilMs = this.#options.monotonicMs() + claim.putOffMs;
    }
    this.#place(endpoint);
  }

  /** The endpoint has answered, or has not in time; the attempt is still to be recorded. */
  answered(
    endpoint: Endpoint,
    attempt: { readonly url: string; readonly timedOut: boolean; readonly nextIntervalMs: number },
  ): void {
    endpoint.inFlight -= 1;
    const nowMs = this.#options.monotonicMs();
    endpoint.breaker = afterAttempt(endpoint.breaker, { ...attempt, nowMs });
    this.#place(endpoint);
  }

  /** The attempt is done with. */
  recorded(): void {
    this.#underWay -= 1;
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  /** How many more requests may go there: one where the breaker asks for a probe. */
  #roomAt({ breaker, inFlight }: Endpoint): number {
    return (isProbed(breaker) ? 1 : this.#options.endpointRequestsMax) - inFlight;
  }

  #shareOf({ inFlight }: Endpoint, free: number): number {
    const unreserved = free - this.#reserved;
    return inFlight === 0 ? Math.max(unreserved, 1) : unreserved;
  }

  /** Puts an endpoint where it belongs now: among the ready ones, to rest, or out of mind. */
  #place(endpoint: Endpoint): void {
    if (isForgettable(endpoint)) {
      this.#endpoints.delete(endpoint.tenantId);
      return;
    }
    if (!endpoint.due || endpoint.isResting || this.#roomAt(endpoint) <= 0) return;
    const restMs = this.#putOffMs(endpoint);
    if (restMs === 0) {
      this.#ready.add(endpoint);
      return;
    }
    this.#ready.delete(endpoint);
    endpoint.isResting = true;
    this.#after(restMs, () => {
      endpoint.isResting = false;
      this.#place(endpoint);
    });
  }

  #putOffMs({ cappedUntilMs, breaker }: Endpoint): number {
    const nowMs = this.#options.monotonicMs();
    return Math.max(cappedUntilMs - nowMs, breaker.openUntilMs - nowMs, 0);
  }

  #after(delayMs: number, run: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      run();
      this.#options.onReady();
    }, delayMs);
    this.#timers.add(timer);
  }
}

function newEndpoint(tenantId: string): Endpoint {
  return {
    tenantId,
    inFlight: 0,
    due: false,
    cappedUntilMs: 0,
    breaker: closedBreaker,
    isResting: false,
  };
}

/** Nothing is lost with an idle endpoint that answers. */
function isForgettable({ due, inFlight, breaker, isResting }: Endpoint): boolean {
  return !due && inFlight === 0 && breaker.timeouts === 0 && !isResting;
}
