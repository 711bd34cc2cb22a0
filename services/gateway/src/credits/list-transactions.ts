import { type Transaction, type TransactionPage, TransactionsQuery } from '@svc/contracts';
import { creditsToNumber, fromWireId, toWireId } from '@svc/domain';
import { readStatement, type StatementLine } from '@svc/store';
import type { GatewayDeps } from '../deps.ts';
import { type Answer, json } from '../http/answer.ts';
import { encodeCursor } from '../http/cursor.ts';
import { tenantEndpoint, type TenantEndpoint } from '../http/endpoint.ts';
import { readPage } from '../http/page.ts';
import { cursorOfPlace, placeOfCursor } from './statement-cursor.ts';

/** `GET /v1/credits/transactions` (CONTRACT 5): the tenant's statement, newest first. */
export function listTransactionsEndpoint(deps: GatewayDeps): TenantEndpoint {
  return tenantEndpoint({
    method: 'get',
    path: '/v1/credits/transactions',
    query: TransactionsQuery,
    handle: ({ tenant }, query) => list(deps, tenant.tenantId, query),
  });
}

async function list(
  deps: GatewayDeps,
  tenantId: string,
  query: TransactionsQuery,
): Promise<Answer> {
  const page = readPage('transactions', query);
  if (page.kind === 'problem') return page;
  const submissionId =
    query.submissionId === undefined ? null : fromWireId('sub', query.submissionId);
  // A `query.submissionId` without a valid UUID belongs to no transaction.
  if (submissionId === undefined) return json(200, { data: [], nextCursor: null });
  const { lines, nextAfter } = await readStatement(deps.store, tenantId, {
    type: query.type ?? null,
    submissionId,
    after: page.after === null ? null : placeOfCursor(deps.requestHashKey, page.after),
    limit: page.limit,
  });
  const body: TransactionPage = {
    data: lines.map(transaction),
    nextCursor:
      nextAfter === null
        ? null
        : encodeCursor('transactions', cursorOfPlace(deps.requestHashKey, nextAfter)),
  };
  return json(200, body);
}

function transaction(line: StatementLine): Transaction {
  const { submissionId, balanceAfterMicros, heldAfterMicros } = line;
  return {
    id: toWireId('txn', line.id),
    type: line.type,
    amount: creditsToNumber(line.amountMicros),
    balanceAfter: creditsToNumber(balanceAfterMicros),
    heldAfter: creditsToNumber(heldAfterMicros),
    availableAfter: creditsToNumber(balanceAfterMicros - heldAfterMicros),
    submissionId: submissionId === null ? null : toWireId('sub', submissionId),
    reference: line.reference,
    createdAt: line.createdAt.toISOString(),
  };
}
