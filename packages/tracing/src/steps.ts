import { createHash } from 'node:crypto';

export type SpanKindName = 'internal' | 'server' | 'client' | 'producer' | 'consumer';

interface StepDefinition {
  readonly name: string;
  readonly kind: SpanKindName;
  /** Null for the root. */
  readonly parent: StepName | null;
  /**
   * True if each span of this step has a `key`, and its parent span has the same `key`. For
   * example, an offer and its accept both have the id of the offer as `key`.
   */
  readonly sharesKey?: true;
  readonly attributes: Readonly<Record<string, string>>;
}

export type StepName =
  | 'request'
  | 'hold'
  | 'enqueue'
  | 'dispatch'
  | 'offer'
  | 'accept'
  | 'begin'
  | 'run'
  | 'outcome'
  | 'settle'
  | 'deliver';

const postgres = { 'db.system.name': 'postgresql' } as const;
const messaging = { 'messaging.system': 'bullmq' } as const;
const processing = { ...messaging, 'messaging.operation.type': 'process' } as const;

/**
 * The steps of a submission, in their order. The names of the attributes follow OpenTelemetry's
 * semantic conventions.
 */
export const steps: Readonly<Record<StepName, StepDefinition>> = {
  request: { name: 'POST /v1/submissions', kind: 'server', parent: null, attributes: {} },
  hold: {
    name: 'hold credits',
    kind: 'client',
    parent: 'request',
    attributes: { ...postgres, 'db.operation.name': 'hold' },
  },
  enqueue: {
    name: 'send dispatch.v1',
    kind: 'producer',
    parent: 'request',
    attributes: {
      ...messaging,
      'messaging.operation.type': 'send',
      'messaging.destination.name': 'dispatch.v1',
    },
  },
  dispatch: {
    name: 'process dispatch.v1',
    kind: 'consumer',
    parent: 'enqueue',
    attributes: { ...processing, 'messaging.destination.name': 'dispatch.v1' },
  },
  offer: { name: 'offer to a node', kind: 'client', parent: 'dispatch', attributes: {} },
  accept: {
    name: 'commit the accept',
    kind: 'client',
    parent: 'offer',
    sharesKey: true,
    attributes: { ...postgres, 'db.operation.name': 'dispatched' },
  },
  begin: {
    name: 'commit the begin',
    kind: 'client',
    parent: 'request',
    attributes: { ...postgres, 'db.operation.name': 'running' },
  },
  run: { name: 'run on the node', kind: 'client', parent: 'request', attributes: {} },
  outcome: {
    name: 'store the outcome',
    kind: 'client',
    parent: 'request',
    attributes: { ...postgres, 'db.operation.name': 'outcome' },
  },
  settle: {
    name: 'settle',
    kind: 'consumer',
    parent: 'request',
    attributes: { ...processing, 'messaging.destination.name': 'settlement.v1' },
  },
  deliver: {
    name: 'POST webhook',
    kind: 'client',
    parent: 'request',
    attributes: { 'http.request.method': 'POST' },
  },
};

/**
 * One span in the trace of a submission or an event. `key` distinguishes several spans of one step,
 * such as the offers of a submission. An offer's `key` is the id of the offer.
 */
export interface StepRef {
  readonly step: StepName;
  /** The UUID of the submission. If no submission is known, the UUID of the event. */
  readonly subjectId: string;
  readonly key?: string | undefined;
  /**
   * Set only for a failed attempt of the step, so that each failed attempt has its own span id. A
   * reference to a parent step has no `attempt`.
   */
  readonly attempt?: string | undefined;
}

/**
 * The span id of a step. It is computed from the reference of the step. So a service knows the id
 * of the parent span even if another process recorded that span.
 */
export function spanIdOf({ step, subjectId, key = '', attempt = '' }: StepRef): string {
  const place = `${subjectId}/${step}/${key}/${attempt}`;
  return createHash('sha256').update(place).digest('hex').slice(0, 16);
}

export function parentOf({ step, subjectId, key }: StepRef): StepRef | undefined {
  const { parent, sharesKey } = steps[step];
  if (parent === null) return undefined;
  return { step: parent, subjectId, ...(sharesKey === true ? { key } : {}) };
}

/**
 * The trace id of a subject for which the tenant sent no trace context. It is the UUID of the
 * subject without the dashes.
 */
export function ownTraceId(subjectId: string): string {
  return subjectId.replaceAll('-', '');
}
