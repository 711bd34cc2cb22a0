import { expect, test } from 'vitest';
import { json, problem } from '../http/answer.ts';
import { decidedBeforeHold, type HoldReply } from '../http/endpoint.ts';
import type { Authentication, KeyAge, Principal } from './authenticate.ts';
import { answerWithCurrentKeys } from './current-keys.ts';

const principalOf = (epoch: number, isRecent: boolean): Principal => ({
  kind: 'tenant',
  tenant: {
    tenantId: 'a',
    disabled: false,
    allowedJobTypes: [],
    hmacSecrets: [],
    keyIds: [],

    tamperedKeyIds: [],
    scopes: [],
    addresses: [],
    hasExpiringSecret: false,
    rateLimitPerSecond: 1,
    rateLimitBurst: 1,
    rateCardVersion: null,
    accountEpoch: BigInt(epoch),
  },
  keyId: 'b',
  isRecent,
});
const refused = problem('unauthenticated', 'no');
const answerOf = (epoch: bigint) => json(422, { epoch: Number(epoch) });
const held = json(201, {});

/**
 * For each `KeyAge`: the epoch of the keys that `identify` finds, and whether these keys are
 * recent. If an age is null or missing, `identify` refuses the request.
 */
type Known = Partial<Record<KeyAge, readonly [number, boolean] | null>>;

async function answered(known: Known, hold: (epoch: bigint) => HoldReply) {
  const asked: string[] = [];
  const { answer, principal } = await answerWithCurrentKeys({
    firstAge: 'any',
    async identify(age): Promise<Authentication> {
      asked.push(age);
      const keys = known[age] ?? null;
      return await Promise.resolve(
        keys === null ? refused : { kind: 'authenticated', principal: principalOf(...keys) },
      );
    },
    async attempt(found) {
      const epoch = found.kind === 'tenant' ? found.tenant.accountEpoch : 0n;
      asked.push(`epoch ${epoch}`);
      return await Promise.resolve(hold(epoch));
    },
  });
  return { asked, answer, isAuthenticated: principal !== undefined };
}

const noHold = (epoch: bigint): HoldReply => decidedBeforeHold(answerOf(epoch));
const holdAt =
  (current: bigint) =>
  (epoch: bigint): HoldReply =>
    epoch === current
      ? { kind: 'answered', answer: held, decidedByHold: true }
      : { kind: 'stale_credentials' };

test('an answer that a hold decided is released with keys of any age', async () => {
  const { asked, answer } = await answered({ any: [1, false] }, holdAt(1n));
  expect([asked, answer]).toEqual([['any', 'epoch 1'], held]);
});

test('an answer that no hold decided is released only if recent keys of that epoch verify too', async () => {
  const recent = await answered({ any: [1, true] }, noHold);
  expect(recent).toMatchObject({ asked: ['any', 'epoch 1'], answer: answerOf(1n) });
  const same = await answered({ any: [1, false], recent: [1, true] }, noHold);
  expect(same).toMatchObject({ asked: ['any', 'epoch 1', 'recent'], answer: answerOf(1n) });
  const changed = await answered({ any: [1, false], recent: [2, true] }, noHold);
  expect(changed.answer).toEqual(answerOf(2n));
  const dropped = await answered({ any: [1, false], recent: null }, noHold);
  expect(dropped).toMatchObject({ answer: refused, isAuthenticated: false });
});

test('a signature is refused only by recent keys', async () => {
  const rotated = await answered({ any: null, recent: [2, true] }, holdAt(2n));
  expect(rotated).toMatchObject({ answer: held, isAuthenticated: true });
  const wrong = await answered({}, holdAt(2n));
  expect(wrong).toEqual({ asked: ['any', 'recent'], answer: refused, isAuthenticated: false });
});

test('stale keys are loaded again, and a secret that they do not have is refused', async () => {
  const { asked, answer } = await answered({ any: [1, true], new: [2, true] }, holdAt(2n));
  expect([asked, answer]).toEqual([['any', 'epoch 1', 'new', 'epoch 2'], held]);
  const dropped = await answered({ any: [1, true], new: null }, holdAt(2n));
  expect(dropped).toMatchObject({ answer: refused, isAuthenticated: false });
});

test('keys that change again and again end in a 503, not in an endless request', async () => {
  const { asked, answer } = await answered({ any: [1, true], new: [2, true] }, holdAt(3n));
  expect(answer).toMatchObject({ code: 'unavailable' });
  expect(asked.filter((step) => step === 'new')).toHaveLength(3);
});
