import { createHash, timingSafeEqual } from 'node:crypto';
import os from 'node:os';
import { fromWireId } from '@svc/domain';
import { type Actor, findOperatorCredentials, hasOperators, type Store } from '@svc/store';
import type { Configuration } from './configuration.ts';
import { Refusal } from './refusal.ts';

/**
 * Returns the operator of SVC_OPERATOR_ID and SVC_OPERATOR_SECRET (CONTRACT 9). If both are
 * missing, returns a `local` actor or throws Refusal.
 */
export async function identify(
  store: Store,
  configuration: Configuration,
  { mayBeFirst }: { readonly mayBeFirst: boolean },
): Promise<Actor> {
  const { SVC_OPERATOR_ID: id, SVC_OPERATOR_SECRET: secret } = configuration;
  if (id !== undefined && secret !== undefined) return verifiedOperator(store, id, secret);
  if (id !== undefined || secret !== undefined) {
    throw new Refusal('Only one of SVC_OPERATOR_ID and SVC_OPERATOR_SECRET is set. Set both.');
  }
  if (configuration.SVC_ENVIRONMENT === 'sandbox') return localActor();
  // In production, the operator's key may be missing only while no operator is enabled.
  if (mayBeFirst && !(await hasOperators(store))) return localActor();
  throw new Refusal(
    'In production this command needs an operator: set SVC_OPERATOR_ID and SVC_OPERATOR_SECRET. ' +
      'While no operator is enabled, `svc operator create` works without these variables.',
  );
}

/** An unknown id, a disabled operator and a wrong secret get the same refusal. */
async function verifiedOperator(store: Store, wireId: string, secret: string): Promise<Actor> {
  const id = fromWireId('op', wireId);
  const operator = id === undefined ? null : await findOperatorCredentials(store, id);
  const isRight = isSame(secret, operator?.secret ?? '');
  if (operator === null || operator.disabled || !isRight) {
    throw new Refusal(
      'SVC_OPERATOR_ID and SVC_OPERATOR_SECRET do not match an enabled operator. ' +
        'Correct them, or unset both in a sandbox. Another operator can give ' +
        'you a new secret with `svc operator rotate-secret`. If your id is disabled, you need ' +
        'a new id and secret: another operator runs `svc operator create`.',
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

/** In some containers the account has no name, only a user id. */
function accountName(): string {
  try {
    return os.userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
