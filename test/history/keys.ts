import {
  type CreateRecord,
  type History,
  latest,
  type RecordOf,
  recordsOf,
  type StatusRecord,
  type Verdict,
} from './history.ts';

/**
 * Checks that each idempotency key is linearizable (CONTRACT 3). If the outcome of a request is
 * unknown, the check assumes an outcome that is correct.
 */
export function checkKeys(history: History): Verdict {
  // The check compares records only in pairs. If a key has several rejected submissions, the check
  // may miss a violation.
  const creates = recordsOf(history, 'create');
  const rejects = Map.groupBy(recordsOf(history, 'reject'), ({ submissionId }) => submissionId);
  const shown = recordsOf(history, 'status').filter(({ key }) => key !== undefined);
  const shownOf = Map.groupBy(shown, nameOf);
  const violations: string[] = [];
  for (const [name, requests] of Map.groupBy(creates, nameOf)) {
    const holders = holdersOf(requests, rejects);
    const found = [
      ...holdersTogether(holders),
      ...requests.flatMap((request) => wrongAnswer(request, requests, holders) ?? []),
      ...wrongRecords(requests, holders, shownOf.get(name) ?? []),
    ];
    violations.push(...found.map((what) => `key ${name}: ${what}`));
  }
  return { guarantee: 'each idempotency key is linearizable', count: creates.length, violations };
}

function nameOf({ tenant, key }: { tenant?: string; key?: string }): string {
  return `${tenant} ${key}`;
}

/**
 * A submission that certainly had the key, from `latestBirthMs` to `earliestDeathMs`. If
 * `earliestDeathMs` is earlier, this interval is empty.
 */
interface Holder {
  readonly submissionId: string;
  /** The requests that were answered with a new submission. More than one is a violation. */
  readonly creators: readonly CreateRecord[];
  readonly replays: readonly CreateRecord[];
  readonly answers: ReadonlySet<string>;
  /**
   * The submission certainly got the key by this moment: the earliest end of a request whose answer
   * names the submission.
   */
  readonly latestBirthMs: number;
  /**
   * The submission cannot have lost the key before this moment: the start of the first reject that
   * may have succeeded. Infinity if there is none.
   */
  readonly earliestDeathMs: number;
  /**
   * The submission certainly lost the key by this moment: the earliest end of a reject that
   * succeeded. Infinity if none succeeded.
   */
  readonly latestDeathMs: number;
}

function holdersOf(
  requests: readonly CreateRecord[],
  rejects: ReadonlyMap<string, readonly RecordOf<'reject'>[]>,
): Holder[] {
  const named = requests.filter((request) => submissionOf(request) !== null);
  return [...Map.groupBy(named, submissionOf)].map(([id, own]): Holder => {
    const submissionId = id ?? '';
    const tries = rejects.get(submissionId) ?? [];
    const may = tries.filter(({ outcome }) => outcome !== 'not_rejected');
    const did = tries.filter(({ outcome }) => outcome === 'rejected');
    return {
      submissionId,
      creators: own.filter((one) => one.outcome.kind === 'created' && !one.outcome.isReplay),
      replays: own.filter((one) => one.outcome.kind === 'created' && one.outcome.isReplay),
      answers: new Set(own.flatMap((one) => answerOf(one) ?? [])),
      latestBirthMs: Math.min(...own.map(latest)),
      earliestDeathMs: Math.min(...may.map(({ beginMs }) => beginMs)),
      latestDeathMs: Math.min(...did.map(latest)),
    };
  });
}

function submissionOf({ outcome }: CreateRecord): string | null {
  return outcome.kind === 'created' || outcome.kind === 'ended' ? outcome.submissionId : null;
}

function answerOf({ outcome }: CreateRecord): string | null {
  return outcome.kind === 'created' ? outcome.answer : null;
}

function holdersTogether(holders: readonly Holder[]): string[] {
  const found: string[] = [];
  for (const [index, one] of holders.entries()) {
    if (one.creators.length > 1) found.push(`${one.submissionId} was created more than once`);
    if (one.answers.size > 1)
      found.push(
        `requests for ${one.submissionId} got different answers: ${[...one.answers].join(', ')}`,
      );
    for (const other of holders.slice(index + 1)) {
      const canFollow = (first: Holder, second: Holder): boolean =>
        first.earliestDeathMs < second.latestBirthMs;
      if (!canFollow(one, other) && !canFollow(other, one))
        found.push(`${one.submissionId} and ${other.submissionId} had the key at the same time`);
    }
  }
  return found;
}

/** True if the holder certainly had the key during the whole request. */
function hasThroughout(holder: Holder, request: CreateRecord): boolean {
  return holder.latestBirthMs < request.beginMs && holder.earliestDeathMs > latest(request);
}

/**
 * The violation in the answer to `request`. Undefined if a correct service may have given this
 * answer.
 */
function wrongAnswer(
  request: CreateRecord,
  requests: readonly CreateRecord[],
  holders: readonly Holder[],
): string | undefined {
  const { outcome, body } = request;
  const others = requests.filter((one) => one !== request);
  const holder = holders.find((one) => hasThroughout(one, request));
  switch (outcome.kind) {
    case 'created': {
      const own = holders.find(({ submissionId }) => submissionId === outcome.submissionId);
      const [creator] = own?.creators ?? [];
      if (!outcome.isReplay || creator === request) return undefined;
      if (creator !== undefined && creator.body !== body)
        return 'a request got a replay, although its body differs from that of the creation';
      const cause = creator === undefined ? others.filter(mayHaveCreated) : [creator];
      if (cause.some((one) => one.body === body && one.beginMs < latest(request))) return undefined;
      return `a request got a replay of ${outcome.submissionId}, but no request with the same body can have created it before the answer`;
    }
    case 'ended':
      return undefined;
    case 'conflict': {
      if (holder !== undefined && bodiesOf(holder).has(body))
        return `a request was refused as a conflict with ${holder.submissionId}, although both have the same body`;
      if (others.some((one) => one.body !== body && mayHaveKey(one, request, holders)))
        return undefined;
      return 'a request was refused as a conflict, but no request with another body had the key at that time';
    }
    case 'taken':
      if (others.some((one) => mayHaveKey(one, request, holders))) return undefined;
      return 'an answer says that the key is taken, but no other request can have had it';
    case 'refused':
      if (holder === undefined) return undefined;
      return `a request was refused (${outcome.code}) while ${holder.submissionId} had the key`;
    case 'unknown':
      return undefined;
  }
}

function mayHaveCreated({ outcome }: CreateRecord): boolean {
  return outcome.kind === 'unknown';
}

function bodiesOf({ creators, replays }: Holder): ReadonlySet<string> {
  return new Set([...creators, ...replays].map(({ body }) => body));
}

/** True if `one` can have had the idempotency key at some moment while `request` ran. */
function mayHaveKey(one: CreateRecord, request: CreateRecord, holders: readonly Holder[]): boolean {
  if (one.beginMs >= latest(request)) return false;
  const { outcome } = one;
  switch (outcome.kind) {
    case 'created':
    case 'ended': {
      const holder = holders.find(({ submissionId }) => submissionId === outcome.submissionId);
      return holder === undefined || holder.latestDeathMs > request.beginMs;
    }
    case 'unknown':
      return true;
    // `one` was refused, so it cannot have the key after this answer.
    case 'conflict':
    case 'taken':
    case 'refused':
      return latest(one) > request.beginMs;
  }
}

/**
 * Finds records in `shown` that contradict each other or the requests. All records and requests are
 * for one key.
 */
function wrongRecords(
  requests: readonly CreateRecord[],
  holders: readonly Holder[],
  shown: readonly StatusRecord[],
): string[] {
  const firstMs = Math.min(...requests.map(({ beginMs }) => beginMs));
  const early = shown.filter(({ endMs }) => endMs < firstMs);
  const found = early.map((one) => `${one.submissionId} was seen before anybody requested it`);
  // A submission that has left `pending` without a rejection keeps the key for ever.
  const lasting = shown.filter(({ status }) => status !== 'pending' && status !== 'rejected');
  const ids = new Set(lasting.map(({ submissionId }) => submissionId));
  if (ids.size > 1) found.push(`the key has several submissions: ${[...ids].join(', ')}`);
  const others = holders
    .filter(({ earliestDeathMs }) => earliestDeathMs === Number.POSITIVE_INFINITY)
    .filter(({ submissionId }) => ids.size === 1 && !ids.has(submissionId));
  for (const { submissionId } of others)
    found.push(
      `an answer names ${submissionId}, but reads show ${[...ids].join(', ')} with this key`,
    );
  const isRefused = holders.length === 0 && !requests.some(mayHaveCreated);
  if (isRefused && ids.size > 0)
    found.push(
      `no request can have created anything, but reads show ${[...ids].join(', ')} with this key`,
    );
  return found;
}
