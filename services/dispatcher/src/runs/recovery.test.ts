import { toWireId } from '@svc/domain';
import {
  beginRecovery,
  commitDispatched,
  databaseNow,
  endRecovery,
  forgetSealingKeys,
  publishKeys,
  readRecovery,
  withdrawKeys,
} from '@svc/store';
import { openRotated } from '@svc/store/fixture';
import { testAuthor, waitUntil } from '@svc/testkit';
import { afterEach, expect, test } from 'vitest';
import { frameTypesOf, useDispatching, uuidOf } from '../dispatcher.fixture.ts';

const service = await useDispatching();

afterEach(() => endRecovery(service.store, { force: true }, testAuthor));

const begin = () => beginRecovery(service.store, testAuthor);

/** Assigns a submission to a node that has no link, then takes it out, as an older backup does. */
async function forgotten(nodeId: string) {
  const { store, database } = service;
  const { id, wireId, replied } = await service.post();
  const commit = await commitDispatched(store, { submissionId: id, nodeId: uuidOf(nodeId) });
  if (commit.kind !== 'dispatched') throw new Error(commit.kind);
  await replied;
  await database.query(`SET session_replication_role = replica;
    UPDATE credit_accounts a SET held_micros = held_micros - quote_max_micros, in_flight = in_flight - 1
      FROM submissions s WHERE s.id = '${id}' AND a.tenant_id = s.tenant_id;
    DELETE FROM ledger_entries WHERE submission_id = '${id}';
    DELETE FROM submissions_in_flight WHERE submission_id = '${id}';
    DELETE FROM submissions WHERE id = '${id}';
    SET session_replication_role = origin`);
  return { id, wireId, receipt: commit.receipt };
}

test('in a recovery an outcome is not acknowledged before its submission is back', async () => {
  const own = await service.newNode();
  const { id, wireId, receipt } = await forgotten(own.nodeId);
  await begin();
  const node = await service.connect({ ...own, running: [wireId] });
  const outcome = { type: 'completed', submissionId: wireId, usage: {}, result: {} } as const;
  // An older node sends the outcome, and frames of its run, without waiting for the `welcome`.
  node.send(outcome);
  node.send({ type: 'usage', submissionId: wireId, usage: {} });
  node.send({ type: 'start', submissionId: wireId });
  node.send({ type: 'report', submissionId: wireId, receipt, begun: true });
  expect(await node.next('recorded')).toMatchObject({ present: true });
  expect(frameTypesOf(node)).toEqual(['welcome', 'recorded']);
  node.send(outcome);
  await node.next('ack');
  expect(await service.stateOf(id)).toBe('settling');
});

test('unreadable reports are refused, counted for their node, and more than 100 close its link', async () => {
  const { store } = service;
  await begin();
  const node = await service.connect();
  const ids = Array.from({ length: 101 }, () => toWireId('sub', store.newId()));
  for (const submissionId of ids)
    node.send({ type: 'report', submissionId, receipt: 'eA==', begun: true });
  expect((await node.closed).code).toBe(1008);
  expect(node.frames.filter(({ type }) => type === 'recorded')).toContainEqual({
    type: 'recorded',
    submissionId: ids[0],
    present: false,
    refused: true,
  });
  const status = await readRecovery(store);
  const nodeId = uuidOf(node.nodeId);
  expect(status).toMatchObject({ findings: {}, unreadable: [{ nodeId, reports: 101 }] });
});

test('a report under the master key of another process waits for it, and is not refused', async () => {
  const { store } = service;
  const rotated = openRotated(service);
  const holder = { id: store.newId(), service: 'dispatcher', host: 'beta' };
  await publishKeys(rotated, holder);
  await begin();
  const node = await service.connect();
  const id = store.newId();
  const kind = uuidOf(node.nodeId);
  const place = { table: 'assignments', column: 'receipt', tenantId: null, kind, row: id };
  const receipt = Buffer.from(rotated.sealer.seal(place, '{}')).toString('base64');
  const submissionId = toWireId('sub', id);
  const report = { type: 'report', submissionId, receipt, begun: true } as const;
  node.send(report);
  // Frames of one submission are handled in order, so the report has no answer before this one.
  node.send({ type: 'stopped', submissionId, usage: {} });
  await node.next('ack');
  expect(frameTypesOf(node)).toEqual(['welcome', 'ack']);
  // Nothing uses the key any more, or a node has made up its id.
  await withdrawKeys(rotated, holder.id);
  await rotated.close();
  await service.advance(5);
  await forgetSealingKeys(store, await databaseNow(store));
  node.send(report);
  expect(await node.next('recorded')).toMatchObject({ submissionId, refused: true });
});

test('a node that still reports after the end of the recovery connects again', async () => {
  const { store } = service;
  await begin();
  const own = await service.newNode();
  const node = await service.connect(own);
  node.send({ type: 'reported' });
  await waitUntil(async () => {
    const status = await readRecovery(store);
    return status?.missingNodes.includes(uuidOf(own.nodeId)) === false;
  });
  await endRecovery(store, { force: true }, testAuthor);
  const report = { type: 'report', submissionId: 'sub_01kajh8z2wf5xav9c3q7m4n6rt' } as const;
  node.send({ ...report, receipt: '', begun: true });
  expect((await node.closed).code).toBe(1012);
  const again = await service.connect(own);
  again.send({ ...report, receipt: '', begun: true });
  expect(await again.next('error')).toMatchObject({ code: 'unexpected_frame' });
});
