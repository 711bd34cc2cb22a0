import type { EndpointAsk, EndpointClaim } from '@svc/store';
import { afterAttempt, closedBreaker, isProbed, type Breaker } from './breaker.ts';

export interface Endpoint {
  readonly tenantId: string;
  /** The id of the endpoint. Null for the webhook URL in the tenant's settings. */
  readonly targetId: string | null;
  /**
   * The number of attempts in flight to this endpoint. An unfinished claim counts as the most
   * attempts that it may return.
   */
  inFlight: number;
  /** True if the endpoint may have due deliveries that no claim has asked for yet. */
  due: boolean;
  /**
   * Monotonic time until which no attempt is made for the tenant, because its attempts of this hour
   * are used up.
   */
  cappedUntilMs: number;
  breaker: Breaker;
  /** Monotonic time of the end of the last attempt. */
  answeredAtMs: number;
  /** True while a timer waits for the later of `cappedUntilMs` and `breaker.openUntilMs`. */
  isResting: boolean;
}

export interface Asked {
  readonly endpoint: Endpoint;
  readonly ask: EndpointAsk;
}

export interface ScheduleOptions {
  readonly endpointRequestsMax: number;
  /**
   * The most requests in flight at all endpoints together. This number also limits the use of
   * connections and memory, even if many more deliveries are due.
   */
  readonly requestsMax: number;
  readonly monotonicMs: () => number;
  /** Called each time a timer has fired, because an endpoint may have become ready. */
  readonly onReady: () => void;
}

/**
 * The longest time until a capped endpoint is asked for again. An operator may raise the cap before
 * its hour ends.
 */
const cappedMsMax = 60_000;
/**
 * The breaker of an endpoint without an attempt for this long is closed. The default retry schedule
 * has no interval this long.
 */
const breakerMsMax = 24 * 3_600_000;

/** The share of the request slots that is reserved for tenants with nothing in flight. */
const reservedShare = 0.25;
/**
 * A claim takes no further endpoint when it has `claimedEndpointsMax` endpoints, or asks for
 * `claimedAttemptsMax` attempts or more.
 */
const claimedEndpointsMax = 64;
const claimedAttemptsMax = 128;
/**
 * `wakeAfter` sets timers only for delays up to `rememberedMsMax`, and at most `rememberedMax` at a
 * time.
 */
const rememberedMsMax = 60_000;
const rememberedMax = 4_096;
/**
 * Added to each timer of `wakeAfter`, because a timer can fire slightly early. A claim that comes
 * too early does not find the delivery.
 */
const timerMarginMs = 25;

/**
 * Decides which endpoints the next claim asks for (decision 13). The state is only in memory. If it
 * is lost, the deliveries are still sent, because Postgres has the due ones.
 */
export class Schedule {
  readonly #options: ScheduleOptions;
  readonly #reserved: number;
  readonly #endpoints = new Map<string, Endpoint>();
  /** The endpoints that the next claims may ask for, in this order. */
  readonly #ready = new Set<Endpoint>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #remembered = 0;
  #inFlight = 0;
  /** The number of attempts in flight of each tenant. Unfinished claims count as in `Endpoint`. */
  readonly #inFlightOf = new Map<string, number>();

  constructor(options: ScheduleOptions) {
    this.#options = options;
    this.#reserved = Math.floor(options.requestsMax * reservedShare);
  }

  /**
   * The number of attempts in flight: those that are being sent or recorded, plus the most that
   * unfinished claims may still return.
   */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** The number of endpoints whose breaker is open or half open. */
  get breakersOpen(): number {
    let count = 0;
    for (const { breaker } of this.#endpoints.values()) count += Number(isProbed(breaker));
    return count;
  }

  /** Marks an endpoint as due. `targetId` is null for the URL of the tenant's settings. */
  wake(tenantId: string, targetId: string | null = null): void {
    const key = targetId ?? tenantId;
    const endpoint = this.#endpoints.get(key) ?? newEndpoint(tenantId, targetId);
    this.#endpoints.set(key, endpoint);
    endpoint.due = true;
    this.#place(endpoint);
  }

  /**
   * Wakes the endpoint after `delayMs`. If `rememberedMsMax` or `rememberedMax` allows no timer,
   * the reconciler wakes the endpoint.
   */
  wakeAfter(tenantId: string, targetId: string | null, delayMs: number): void {
    if (delayMs > rememberedMsMax || this.#remembered >= rememberedMax) return;
    this.#remembered += 1;
    this.#after(delayMs + timerMarginMs, () => {
      this.#remembered -= 1;
      this.wake(tenantId, targetId);
    });
  }

  /**
   * Returns the endpoints of the next claim. The `attemptsMax` attempts of each `ask` count as in
   * flight. `claimed` later gives back those that were not claimed.
   */
  take(): Asked[] {
    const asked: Asked[] = [];
    let attempts = 0;
    for (const endpoint of this.#ready) {
      if (asked.length === claimedEndpointsMax || attempts >= claimedAttemptsMax) break;
      const free = this.#options.requestsMax - this.#inFlight;
      if (free <= 0) break;
      const attemptsMax = Math.min(this.#roomAt(endpoint), this.#shareOf(endpoint, free));
      if (attemptsMax <= 0) continue;
      this.#ready.delete(endpoint);
      endpoint.due = false;
      this.#count(endpoint, attemptsMax);
      this.#inFlight += attemptsMax;
      attempts += attemptsMax;
      const { tenantId, targetId } = endpoint;
      asked.push({ endpoint, ask: { tenantId, targetId, attemptsMax } });
    }
    return asked;
  }

  /**
   * Takes the result of a claim and gives the unused capacity back. `claim` is undefined if the
   * claim failed.
   */
  claimed({ endpoint, ask }: Asked, claim: EndpointClaim | undefined): void {
    const unused = ask.attemptsMax - (claim?.attempts.length ?? 0);
    this.#count(endpoint, -unused);
    this.#inFlight -= unused;
    if (claim?.more === true) endpoint.due = true;
    if (claim !== undefined && claim.postponedMs > 0) {
      endpoint.cappedUntilMs =
        this.#options.monotonicMs() + Math.min(claim.postponedMs, cappedMsMax);
    }
    this.#place(endpoint);
    for (const targetId of claim?.dueTargetIds ?? []) this.wake(endpoint.tenantId, targetId);
  }

  /**
   * Gives the capacity of an attempt back to its endpoint, and updates the endpoint's breaker. The
   * attempt still counts in `Schedule.inFlight` until `recorded` is called.
   */
  answered(
    endpoint: Endpoint,
    attempt: { readonly url: string; readonly timedOut: boolean; readonly nextIntervalMs: number },
  ): void {
    this.#count(endpoint, -1);
    const nowMs = this.#options.monotonicMs();
    endpoint.answeredAtMs = nowMs;
    endpoint.breaker = afterAttempt(endpoint.breaker, { ...attempt, nowMs });
    this.#place(endpoint);
  }

  /**
   * Closes the breakers of endpoints that had no attempt for `breakerMsMax` and have none due, for
   * example because the URL was cleared.
   */
  forgetOldBreakers(): void {
    const before = this.#options.monotonicMs() - breakerMsMax;
    for (const endpoint of this.#endpoints.values()) {
      if (endpoint.due || endpoint.inFlight > 0 || endpoint.answeredAtMs > before) continue;
      endpoint.breaker = closedBreaker;
      this.#place(endpoint);
    }
  }

  recorded(): void {
    this.#inFlight -= 1;
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #roomAt({ breaker, inFlight }: Endpoint): number {
    return (isProbed(breaker) ? 1 : this.#options.endpointRequestsMax) - inFlight;
  }

  #count(endpoint: Endpoint, attempts: number): void {
    endpoint.inFlight += attempts;
    const count = (this.#inFlightOf.get(endpoint.tenantId) ?? 0) + attempts;
    if (count === 0) this.#inFlightOf.delete(endpoint.tenantId);
    else this.#inFlightOf.set(endpoint.tenantId, count);
  }

  #shareOf({ tenantId }: Endpoint, free: number): number {
    const unreserved = free - this.#reserved;
    return !this.#inFlightOf.has(tenantId) ? Math.max(unreserved, 1) : unreserved;
  }

  #place(endpoint: Endpoint): void {
    if (isForgettable(endpoint)) {
      this.#endpoints.delete(endpoint.targetId ?? endpoint.tenantId);
      return;
    }
    if (!endpoint.due || endpoint.isResting || this.#roomAt(endpoint) <= 0) return;
    const restMs = this.#postponedMs(endpoint);
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

  #postponedMs({ cappedUntilMs, breaker }: Endpoint): number {
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

function newEndpoint(tenantId: string, targetId: string | null): Endpoint {
  return {
    tenantId,
    targetId,
    inFlight: 0,
    due: false,
    cappedUntilMs: 0,
    breaker: closedBreaker,
    answeredAtMs: 0,
    isResting: false,
  };
}

/**
 * True if the `Endpoint` can be deleted from memory. A `cappedUntilMs` in the future does not
 * prevent this, because the next claim returns the remaining time as `postponedMs`.
 */
function isForgettable({ due, inFlight, breaker, isResting }: Endpoint): boolean {
  return !due && inFlight === 0 && breaker.timeouts === 0 && !isResting;
}
