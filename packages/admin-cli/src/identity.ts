import { createHash, timingSafeEqual } from 'node:crypto';
import os from 'node:os';
import { fromWireId } from '@svc/domain';
import { type Actor, findOperatorCredentials, hasOperators, type Store } from '@svc/store';
import type { Configuration } from './configuration.ts';
import { Refusal } from './refusal.ts';

/**
 * Who runs `svc` (CONTRACT 9): the operator whose key is in the environment, checked
 * against the database each time, so that a disabled one is refused at once. A sandbox may go
 * without: the audit log then names the account on this machine. So may whoever creates the first
 * operator of a production service; there is nobody yet to do it.
 */
export async function identify(
  store: Store,
  configuration: Configuration,
  { mayBeFirst }: { readonly mayBeFirst: boolean },
): Promise<Actor> {
  const { SVC_OPERATOR_ID: id, SVC_OPERATOR_SECRET: secret } = configuration;
  if (id !== undefined && secret !== undefined) return verifiedOperator(store, id, secret);
  if (id !== undefined || secret !== undefined) {
    throw new Refusal('SVC_OPERATOR_ID and SVC_OPERATOR_SECRET go together: set both.');
  }
  if (configuration.SVC_ENVIRONMENT === 'sandbox') return localActor();
  if (mayBeFirst && !(await hasOperators(store))) return localActor();
  throw new Refusal(
    'In production every command is an operator’s: set SVC_OPERATOR_ID and SVC_OPERATOR_SECRET. ' +
      'The first operator is made by `svc operator create` without them.',
  );
}

/** Unknown, disabled and wrong are one answer. */
async function verifiedOperator(store: Store, wireId: string, secret: string): Promise<Actor> {
  const id = fromWireId('op', wireId);
  const operator = id === undefined ? null : await findOperatorCredentials(store, id);
  const isRight = isSame(secret, operator?.secret ?? '');
  if (operator === null || operator.disabled || !isRight) {
    throw new Refusal(
      'SVC_OPERATOR_ID and SVC_OPERATOR_SECRET are not those of an operator in force. ' +
        'Another operator can make new ones: `svc operator rotate-secret`, `svc operator create`.',
    );
  }
  return { kind: 'operator', id: operator.operatorId };
}

function isSame(given: string, known: string): boolean {
  return timingSafeEqual(digest(given), digest(known));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function localActor(): Actor {
  return { kind: 'local', name: accountName() };
}

/** An account of a container may have no name. */
function accountName(): string {
  try {
    return os.userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
