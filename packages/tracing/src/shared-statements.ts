import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type SharedStatement, sharedStatements } from '@svc/domain';
import type { BatchSpan } from './tracing.ts';

type EndedBatch = Omit<BatchSpan, 'startMs' | 'endMs'> & { readonly durationMs: number };

/**
 * Calls `onBatch` for each SQL statement or transaction that the store reports on the channel
 * `sharedStatements`. Returns a function that ends these calls.
 */
export function followStatements(onBatch: (batch: EndedBatch) => void): () => void {
  const listener = (message: unknown): void => {
    if (!isSharedStatement(message)) return;
    const { intent, submissionIds, durationMs } = message;
    onBatch({
      name: `${intent} batch`,
      kind: 'client',
      members: submissionIds.map((subjectId) => ({ step: intent, subjectId })),
      attributes: {
        'db.system.name': 'postgresql',
        'db.operation.name': intent,
        'db.operation.batch.size': submissionIds.length,
      },
      durationMs,
    });
  };
  subscribe(sharedStatements, listener);
  return () => unsubscribe(sharedStatements, listener);
}

function isSharedStatement(message: unknown): message is SharedStatement {
  return typeof message === 'object' && message !== null && 'submissionIds' in message;
}
