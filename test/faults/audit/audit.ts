import { toWireId } from '@svc/domain';
import type { LoadTenant } from '../load/tenant.ts';
import { type Logged, type NodeLine, readNodeLog } from '../node/node-log.ts';
import type { World } from '../world/types.ts';
import { type FinalRecord, readBooks } from './books.ts';
import { auditEvents } from './events.ts';
import { Findings } from './findings.ts';
import { auditBooks, auditLedgerTables } from './money.ts';
import { auditOutcomes, auditReplays } from './outcomes.ts';
import { auditRuns } from './runs.ts';

export async function audit(world: World, tenants: readonly LoadTenant[]): Promise<Findings> {
  const findings = new Findings();
  const { seen } = world;
  // Read the nodes' logs before the submissions' records, because the records must contain
  // everything that the logs contain.
  const lines = readNodes(world);
  const records: FinalRecord[] = [];
  // The tenants are read one after the other, because the account statement of a long run is large.
  for (const tenant of tenants) {
    const books = await readBooks(world, tenant);
    auditBooks(findings, books, seen.grants);
    auditEvents(findings, books);
    records.push(...books.records);
  }
  auditOutcomes(findings, seen, records);
  auditRuns(findings, lines, records, await dispatchedNodes(world));
  await auditReplays(findings, world, [...seen.applications.values()]);
  await auditLedgerTables(findings, world.pool);
  const answers = [...seen.answers.values()].reduce((sum, count) => sum + count, 0);
  findings.addAll('every answer is one that the contract allows', answers, seen.complaints);
  const processes = [...world.services, ...world.nodes];
  const deaths = processes.flatMap(({ process }) => process.deaths);
  findings.addAll('only faults end processes', processes.length, deaths);
  return findings;
}

/**
 * Reads from Postgres which node each assigned submission has, because the tenants' API does not
 * show the node.
 */
async function dispatchedNodes({ pool, nodes }: World): Promise<ReadonlyMap<string, string>> {
  const names = new Map(nodes.map(({ nodeId, process }) => [nodeId, process.name]));
  const { rows } = await pool.query<{ id: string; node_id: string }>(
    'SELECT id, node_id FROM submissions WHERE node_id IS NOT NULL',
  );
  return new Map(
    rows.map((row) => [
      toWireId('sub', row.id),
      names.get(toWireId('nod', row.node_id)) ?? row.node_id,
    ]),
  );
}

function readNodes({ nodes }: World): Logged<NodeLine>[] {
  return nodes.flatMap(({ process, logFile }) => readNodeLog(process.name, logFile));
}
