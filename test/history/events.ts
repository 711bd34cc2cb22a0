import {
  type History,
  latest,
  recordsOf,
  type RestRecord,
  type Status,
  type UrlRecord,
  type Verdict,
  type WebhookRecord,
} from './history.ts';
import { type EndingTimes, endingTimes } from './submissions.ts';

/**
 * Checks that events reach only URLs that were in force, and that the end of a submission has at
 * most one event, which arrives if the tenant keeps a URL (CONTRACT 6).
 */
export function checkEvents(history: History): Verdict[] {
  const webhooks = recordsOf(history, 'webhook');
  const endings = endingTimes(history);
  const urls = new Map<string, UrlInForce[]>();
  for (const [tenant, changes] of Map.groupBy(recordsOf(history, 'url'), (one) => one.tenant))
    urls.set(tenant, inForce(changes));
  const rest = recordsOf(history, 'rest').at(-1);
  const ended = [...endings].filter(([, { status }]) => status !== undefined);
  return [
    {
      guarantee:
        'an event reaches only a URL that was in force at some time between cause and arrival of the event',
      count: webhooks.length,
      violations: webhooks.flatMap((one) => atAnOldUrl(one, urls, endings) ?? []),
    },
    {
      guarantee:
        'the end of a submission has at most one event, which arrives if the tenant has a URL when the submission ends and at all later times',
      count: ended.length,
      violations: [
        ...repeated(webhooks),
        ...(rest === undefined ? [] : missing(history, { rest, urls, endings })),
      ],
    },
  ];
}

interface UrlInForce {
  readonly url: string | null;
  /** The start of the request that set the URL. The URL can be in force from then on. */
  readonly fromMs: number;
  /**
   * The latest moment at which the URL can still be in force. Infinity if it is not certain that a
   * later change replaced the URL.
   */
  readonly untilMs: number;
  /**
   * The end of the request that set the URL. By this moment, the URL was certainly set. Infinity if
   * the request got no definite answer.
   */
  readonly surelyFromMs: number;
}

function inForce(changes: readonly UrlRecord[]): UrlInForce[] {
  return changes.map((change) => {
    const after = changes.filter(({ beginMs }) => beginMs > latest(change));
    return {
      url: change.url,
      fromMs: change.beginMs,
      untilMs: Math.min(...after.map(latest)),
      surelyFromMs: latest(change),
    };
  });
}

/**
 * Returns a violation if the webhook's URL cannot have been in force when the attempt was claimed.
 * The claim is between the event's cause and the attempt's arrival.
 */
function atAnOldUrl(
  webhook: WebhookRecord,
  urls: ReadonlyMap<string, readonly UrlInForce[]>,
  endings: ReadonlyMap<string, EndingTimes>,
): string | undefined {
  const { tenant, url, type, submissionId, eventId, atMs } = webhook;
  const isOfAnEnd = endOf[type] !== undefined && submissionId !== null;
  const causeMs = isOfAnEnd ? (endings.get(submissionId)?.earliestMs ?? 0) : 0;
  const isRight = (urls.get(tenant) ?? []).some(
    (one) => one.url === url && one.fromMs <= atMs && one.untilMs >= causeMs,
  );
  if (isRight) return undefined;
  return `${eventId} (${type}, ${submissionId}) reached ${url} at ${atMs.toFixed(0)} ms, but this URL was not in force at any time from ${causeMs.toFixed(0)} ms (the earliest time of the event's cause) until then`;
}

const endOf: Readonly<Record<string, Status>> = {
  'submission.completed': 'submitted',
  'submission.failed': 'failed',
  'submission.cancelled': 'cancelled',
};

interface Known {
  readonly rest: RestRecord;
  readonly urls: ReadonlyMap<string, readonly UrlInForce[]>;
  readonly endings: ReadonlyMap<string, EndingTimes>;
}

function repeated(webhooks: readonly WebhookRecord[]): string[] {
  const events = webhooks.filter(({ type }) => endOf[type] !== undefined);
  return [...Map.groupBy(events, ({ submissionId }) => submissionId)].flatMap(([id, own]) => {
    const ids = new Set(own.map(({ eventId }) => eventId));
    return ids.size === 1
      ? []
      : [`the end of submission ${id} has ${ids.size} events: ${[...ids].join(', ')}`];
  });
}

function missing(history: History, { rest, urls, endings }: Known): string[] {
  const webhooks = recordsOf(history, 'webhook').filter(({ type }) => endOf[type] !== undefined);
  const arrived = new Set(webhooks.map(({ submissionId }) => submissionId));
  const found: string[] = [];
  const tenantOf = tenants(history);
  for (const [id, { status, earliestMs, latestMs }] of endings) {
    if (status === undefined || status === 'rejected' || latestMs > rest.atMs) continue;
    const changes = urls.get(tenantOf.get(id) ?? '') ?? [];
    if (!arrived.has(id) && hadUrlSince(changes, earliestMs))
      found.push(`submission ${id} is ${status}, but no event of its end arrived`);
  }
  return found;
}

/** True if the tenant certainly had a URL at `ms` and at all later times. */
function hadUrlSince(changes: readonly UrlInForce[], ms: number): boolean {
  const wasSet = changes.some(({ url, surelyFromMs }) => url !== null && surelyFromMs < ms);
  return wasSet && changes.every(({ url, untilMs }) => url !== null || untilMs < ms);
}

function tenants(history: History): Map<string, string> {
  const tenantOf = new Map<string, string>();
  for (const record of history) {
    if (record.kind === 'create' && record.outcome.kind === 'created')
      tenantOf.set(record.outcome.submissionId, record.tenant);
    if (record.kind === 'status' && record.tenant !== undefined)
      tenantOf.set(record.submissionId, record.tenant);
  }
  return tenantOf;
}
