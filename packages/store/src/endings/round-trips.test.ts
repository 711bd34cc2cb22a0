import { openDatabaseGate, type DatabaseGate } from '@svc/testkit';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { commitDispatched } from '../assignments/dispatch.ts';
import { storeOutcome } from '../assignments/outcomes.ts';
import { sqlState } from '../connection/errors.ts';
import { openStore, type Store } from '../connection/store.ts';
import { createFixture, type Fixture } from '../store.fixture.ts';
import { endSubmissions } from './end-submissions.ts';
import { settle } from './endings.ts';

let fixture: Fixture;
let gate: DatabaseGate;
let store: Store;

beforeEach(async () => {
  fixture = await createFixture();
  gate = await openDatabaseGate(fixture.database.databaseUrl);
  const { sealer, newId } = fixture.store;
  store = openStore({ databaseUrl: gate.databaseUrl, sealer, newId });
  onTestFinished(async () => {
    await store.close();
    await gate.close();
  });
});

async function settling(tenantId: string, nodeId: string): Promise<string> {
  const { id: submissionId } = await fixture.hold(tenantId);
  await commitDispatched(fixture.store, { submissionId, nodeId });
  const outcome = { kind: 'failed', usage: {}, code: 'captcha', message: '' } as const;
  await storeOutcome(fixture.store, { submissionId, nodeId, outcome });
  return submissionId;
}

test('a settlement waits for Postgres three times: its locks, its writes, its commit', async () => {
  const [tenantId, nodeId] = [await fixture.tenant(2_000), await fixture.node()];
  const waits: number[] = [];
  for (let time = 0; time < 5; time += 1) {
    const id = await settling(tenantId, nodeId);
    const before = gate.roundTrips();
    expect(await settle(store, [id])).toMatchObject([{ kind: 'moved', state: 'failed' }]);
    waits.push(gate.roundTrips() - before);
  }
  // The first settlement waits more often, because it also connects and reads the rate card. So the
  // test checks the smallest number.
  expect(Math.min(...waits)).toBe(3);
});

test('a settlement that Postgres refuses at its locks changes nothing, and the next one settles', async () => {
  const [tenantId, nodeId] = [await fixture.tenant(), await fixture.node()];
  const id = await settling(tenantId, nodeId);
  const refusal = await endSubmissions(store, [id, 'no id'], { kind: 'settle' }).catch(sqlState);
  expect(refusal).toBe('22P02');
  expect(await fixture.state(id)).toBe('settling');
  expect(await fixture.figures(tenantId)).toEqual({ balance: 1_000, held: 200 });
  expect(await settle(store, [id])).toMatchObject([{ kind: 'moved', state: 'failed' }]);
});
