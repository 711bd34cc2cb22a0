import type { LoadTenant } from '../load/tenant.ts';
import { type Logged, type NodeLine, readNodeLog } from '../node/node-log.ts';
import type { World } from '../world/types.ts';
import { readBooks } from './books.ts';
import { auditEvents } from './events.ts';
import { Findings } from './findings.ts';
import { auditBooks, auditLedgerTables } from './money.ts';
import { auditOutcomes, auditReplays } from './outcomes.ts';
import { auditRuns } from './runs.ts';

/**
 * The whole audit, from outside: tenants' API, receivers' logs, nodes' logs, what clients were
 * told, and at last the ledger's rows. It decides by its own arithmetic and the contract alone.
 */
export async function audit(world: World, tenants: readonly LoadTenant[]): Promise<Findings> {
  const findings = new Findings();
  const { seen } = world;
  // Before the records are read: what is in these logs by now must be in the records by then.
  const lines = readNodes(world);
  const books = await Promise.all(tenants.map((tenant) => readBooks(world, tenant)));
  const records = books.flatMap((one) => one.records);
  for (const one of books) {
    auditBooks(findings, one, seen.grants);
    auditEvents(findings, one);
  }
  auditOutcomes(findings, seen, records);
  auditRuns(findings, lines, records);
  await auditReplays(findings, world, [...seen.applications.values()]);
  await auditLedgerTables(findings, world.pool);
  const answers = [...seen.answers.values()].reduce((sum, count) => sum + count, 0);
  findings.addAll('every answer is one that the contract allows', answers, seen.complaints);
  const processes = [...world.services, ...world.nodes];
  const deaths = processes.flatMap(({ process }) => process.deaths);
  findings.addAll('no process ends by itself', processes.length, deaths);
  return findings;
}

function readNodes({ nodes }: World): Logged<NodeLine>[] {
  return nodes.flatMap(({ process, logFile }) => readNodeLog(process.name, logFile));
}
