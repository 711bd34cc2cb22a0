import { newId } from '@svc/runtime';
import type { Model } from './model.ts';
import type { Operation } from './operations.ts';
import type { Random } from './random.ts';

const maxMicros = '200000000';
const recentMax = 400;

/** A source of operations. Most operations concern the latest submissions (`recentMax`). */
export interface Schedule {
  readonly next: () => Operation;
}

export function createSchedule(
  random: Random,
  model: Model,
  { tenantIds, nodeIds }: { tenantIds: readonly string[]; nodeIds: readonly string[] },
): Schedule {
  const held: Extract<Operation, { kind: 'hold' }>[] = [];
  let counter = 0;
  const tenant = () => random.pick(tenantIds) ?? '';
  const recent = () => random.pick(held.slice(-recentMax));
  const nodeOf = (submissionId: string) =>
    nodeIds[(submissionId.codePointAt(35) ?? 0) % nodeIds.length] ?? '';

  const hold = (): Operation => {
    const earlier = recent();
    // About a tenth of the holds are replays. A replay has the tenant and the key of an earlier
    // hold, and a new submission id.
    const replayed = earlier !== undefined && random.chance(0.1) ? earlier : undefined;
    counter += 1;
    const operation = {
      kind: 'hold',
      submissionId: newId(),
      tenantId: replayed?.tenantId ?? tenant(),
      key: replayed?.key ?? `key-${counter}`,
      maxMicros,
    } as const;
    held.push(operation);
    return operation;
  };

  const grant = (): Operation => {
    counter += 1;
    const repeated = random.chance(0.2) ? [...model.references].at(-1) : undefined;
    const reference = repeated ?? `${tenant()}/${counter}`;
    const tenantId = reference.split('/')[0] ?? '';
    return { kind: 'grant', tenantId, reference, micros: '500000000' };
  };

  return {
    next() {
      const one = recent();
      if (one === undefined || random.chance(0.2)) return hold();
      if (random.chance(0.05)) return { kind: 'quote', tenantId: one.tenantId };
      const { submissionId, tenantId } = one;
      if (random.chance(0.05)) return { kind: 'look', submissionId, tenantId };
      const nodeId = random.chance(0.95) ? nodeOf(submissionId) : (random.pick(nodeIds) ?? '');
      const mine = { submissionId, nodeId };
      const die = random.nat(100);
      if (die < 20) return { kind: 'dispatch', ...mine };
      if (die < 40) return { kind: 'begin', ...mine };
      if (die < 48) return { kind: 'usage', ...mine, actions: random.nat(50) };
      if (die < 62) return { kind: 'complete', ...mine, actions: random.nat(100) };
      if (die < 68) return { kind: 'fail', ...mine };
      if (die < 83) return { kind: 'settle', submissionIds: settleable() };
      if (die < 89) return { kind: 'cancel', submissionId, tenantId };
      if (die < 93) return { kind: 'reject', submissionId };
      if (die < 98) return grant();
      return { kind: 'payRebate', tenantId };
    },
  };

  function settleable(): string[] {
    const ids = Array.from({ length: 1 + random.nat(8) }, () => recent()?.submissionId ?? '');
    return [...new Set(ids)];
  }
}
