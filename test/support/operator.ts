import { randomBytes } from 'node:crypto';
import { toWireId } from '@svc/domain';
import { newId } from '@svc/runtime';
import { createSealer, newSecret, openKeyring } from '@svc/signing';
import { createOperator, openStore } from '@svc/store';
import { testMasterKey, type TestStack } from '@svc/testkit';
import { signatureHeaders, type WireRequest } from './wire.ts';

export interface OperatorKey {
  readonly operatorId: string;
  readonly secret: string;
}

/** An operator of the stack, written into its database: its key is shown nowhere else. */
export async function newOperator(stack: TestStack, name: string): Promise<OperatorKey> {
  const sealer = createSealer(openKeyring(testMasterKey()));
  const store = openStore({ databaseUrl: stack.databaseUrl, sealer, newId });
  try {
    const operator = { id: newId(), name, secret: newSecret('osk', randomBytes) };
    await createOperator(store, operator);
    return { operatorId: toWireId('op', operator.id), secret: operator.secret };
  } finally {
    await store.close();
  }
}

/** The request, signed by an operator. */
export function signedByOperator(operator: OperatorKey, wire: WireRequest): WireRequest {
  const signer = { id: operator.operatorId, secret: operator.secret, header: 'X-SVC-Operator' };
  return { ...wire, headers: { ...signatureHeaders(signer, wire), ...wire.headers } };
}
