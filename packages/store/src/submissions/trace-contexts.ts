import { statement } from '../connection/statement.ts';
import type { Store } from '../connection/store.ts';

/** The trace context that a tenant sent with a submission. Both ids are lowercase hex. */
export interface StoredTraceContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly tracestate?: string;
}

/**
 * Trace contexts are deleted after this many days. The attempts of webhooks need them, so this time
 * must exceed the run limit plus `webhookAgeMaxMs`.
 */
const keptDays = 7;
/** Each insert deletes up to this many expired rows, so that the table needs no other clean-up. */
const deletedMax = 16;

/**
 * A submission id is a UUIDv7, so it begins with its creation time. The expired rows are those
 * whose id is lower than an id made from the time `keptDays` ago.
 */
const storeOne = statement(
  { id: 'uuid', trace_id: 'text', span_id: 'text', tracestate: 'text' },
  `
  WITH expired AS (
    DELETE FROM trace_contexts WHERE submission_id = ANY(ARRAY(
      SELECT submission_id FROM trace_contexts
      WHERE submission_id < (lpad(to_hex(
        (extract(epoch FROM svc_now() - interval '${keptDays} days') * 1000)::bigint
      ), 12, '0') || '00000000000000000000')::uuid
      ORDER BY submission_id LIMIT ${deletedMax} FOR UPDATE SKIP LOCKED))
  )
  INSERT INTO trace_contexts (submission_id, trace_id, span_id, tracestate)
  VALUES ($id, $trace_id, $span_id, $tracestate) ON CONFLICT DO NOTHING`,
);

/** Stores the context of a traced submission (CONTRACT 2). A stored context is not replaced. */
export async function storeTraceContext(
  store: Store,
  submissionId: string,
  {
    traceId,
    spanId,
    tracestate = null,
  }: Omit<StoredTraceContext, 'tracestate'> & {
    readonly tracestate?: string | null | undefined;
  },
): Promise<void> {
  await storeOne(store.query, { id: submissionId, trace_id: traceId, span_id: spanId, tracestate });
}

interface ContextRow {
  submission_id: string;
  trace_id: string;
  span_id: string;
  tracestate: string | null;
}

const findAll = statement(
  { id: 'uuid[]' },
  `SELECT submission_id, trace_id, span_id, tracestate FROM trace_contexts WHERE submission_id = ANY($id)`,
);

/**
 * Returns a map from submission id to context. A submission without a stored context is not in it.
 */
export async function findTraceContexts(
  store: Store,
  submissionIds: readonly string[],
): Promise<ReadonlyMap<string, StoredTraceContext>> {
  if (submissionIds.length === 0) return new Map();
  const rows = await findAll<ContextRow>(store.query, { id: submissionIds });
  return new Map(
    rows.map(({ submission_id: id, trace_id: traceId, span_id: spanId, tracestate }) => [
      id,
      { traceId, spanId, ...(tracestate === null ? {} : { tracestate }) },
    ]),
  );
}
