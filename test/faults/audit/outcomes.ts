import { canonical } from '../load/json.ts';
import { gatewayOf } from '../load/load-world.ts';
import { type Application, type Seen, submissionIdOf } from '../load/seen.ts';
import type { LoadTenant } from '../load/tenant.ts';
import type { World } from '../world/types.ts';
import { type FinalRecord, inWords } from './books.ts';
import type { Findings } from './findings.ts';

const endStatuses = new Set(['submitted', 'failed', 'cancelled']);

export function auditOutcomes(
  findings: Findings,
  seen: Seen,
  records: readonly FinalRecord[],
): void {
  const byKey = Map.groupBy(records, ({ key }) => key);
  for (const record of records) {
    findings.expect(
      'each submission has ended',
      endStatuses.has(record.status),
      record.id,
      () => `its status is ${record.status}`,
    );
    findings.expect(
      'every submission was requested',
      seen.applications.has(record.key),
      record.id,
      () => `its idempotency key is ${record.key}`,
    );
  }
  for (const application of seen.applications.values()) {
    auditApplication(findings, application, byKey.get(application.key) ?? []);
  }
}

function auditApplication(
  findings: Findings,
  application: Application,
  found: readonly FinalRecord[],
): void {
  const { key, created, unanswered, refusedWith, ends } = application;
  const [record] = found;
  findings.expect('an idempotency key has at most one submission', found.length <= 1, key, () =>
    found.map(({ id }) => id).join(', '),
  );
  if (created !== undefined) {
    const isThere =
      record?.id === submissionIdOf(application) &&
      canonical(record?.quote) === canonical(created['quote']);
    findings.expect(
      'every creation that got the answer 200 or 201 has a submission with the id and the quote of that answer',
      isThere,
      key,
      () => `the answer was ${canonical(created)}, but the record is ${inWords(record)}`,
    );
  } else if (unanswered === 0 && refusedWith !== undefined) {
    findings.expect(
      'a refused creation leaves no submission',
      found.length === 0,
      key,
      () => `the refusal was ${refusedWith}, but the record is ${inWords(record)}`,
    );
  }
  for (const end of ends) {
    const isSame =
      record?.status === end.status &&
      (end.chargedMicros === null || end.chargedMicros === record.chargedMicros);
    findings.expect(
      'an end that a tenant has read does not change',
      isSame,
      key,
      () =>
        `${end.from} reported ${end.status}, ${end.chargedMicros} micros charged; the record reads ${record?.status}, ${record?.chargedMicros} micros charged`,
    );
  }
}

const replaysAtOnce = 16;

export async function auditReplays(
  findings: Findings,
  world: World,
  applications: readonly Application[],
): Promise<void> {
  const left = applications.filter(({ created }) => created !== undefined);
  const lane = async (turn: number): Promise<void> => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      await replay(findings, world, next, turn);
    }
  };
  await Promise.all(Array.from({ length: replaysAtOnce }, (_, turn) => lane(turn)));
}

async function replay(
  findings: Findings,
  world: World,
  { key, tenant, body, created }: Application,
  turn: number,
): Promise<void> {
  const { signer }: LoadTenant = tenant;
  const answer = await world.http.ask(gatewayOf(world, turn), {
    method: 'POST',
    target: '/v1/submissions',
    body,
    signer,
  });
  const expected = canonical({ ...created, idempotent: true });
  findings.expect(
    'every replay of a creation that got 200 or 201 gets 200 and the same body with `"idempotent": true`',
    answer?.status === 200 && canonical(answer.body) === expected,
    key,
    () =>
      `the replay got ${answer === undefined ? 'no answer' : `${answer.status} ${canonical(answer.body)}`}, not 200 ${expected}`,
  );
}
