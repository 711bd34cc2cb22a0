import { quarantineReasons, toWireId } from '@svc/domain';
import { readFleetLinks, type FleetLinks } from '@svc/queue';
import { assignmentsOf, findNode, type NodeRecord } from '@svc/store';
import { idArgument } from '../arguments.ts';
import type { CommandOptions } from '../command.ts';
import type { Context } from '../context.ts';
import { printRecord, type Row } from '../output.ts';
import { tryRedis } from '../redis.ts';
import { Refusal } from '../refusal.ts';

export const nodeArgument = ['<node>', 'its id, nod_…', idArgument('nod')] as const;

export const unknownNode = (): Refusal =>
  new Refusal('There is no such node. Run `svc node list` to see the ids.');

/**
 * Reads the links of these nodes. Null if `REDIS_URL` is not set or Redis cannot be reached. Throws
 * Refusal if Redis belongs to the other environment (sandbox or production).
 */
export async function linksOf(
  context: Context,
  nodeIds: readonly string[],
): Promise<FleetLinks | null> {
  const read = await tryRedis(context, ({ redis, prefix }) =>
    readFleetLinks(redis, prefix, nodeIds),
  );
  return read.kind === 'away' ? null : read.value;
}

/**
 * `links` is null if `REDIS_URL` is not set or Redis cannot be reached. The row's member `linked` is
 * then null too.
 */
export function nodeRow({ id, ...node }: NodeRecord, links: FleetLinks | null): Row {
  const link = links?.get(id);
  return {
    nodeId: toWireId('nod', id),
    ...node,
    quarantineReason: node.quarantineReason && quarantineReasons[node.quarantineReason],
    linked: links === null ? null : link !== undefined,
  };
}

export async function showNode(
  context: Context,
  nodeId: string,
  options: CommandOptions,
  { isChanged = false }: { readonly isChanged?: boolean } = {},
): Promise<void> {
  const node = await findNode(context.store, nodeId);
  if (node === null) throw unknownNode();
  const links = await linksOf(context, [nodeId]).catch((error: unknown) => {
    if (isChanged) return null;
    throw error;
  });
  const assignments = await assignmentsOf(context.store, nodeId);
  const running = assignments.map(({ submissionId, state }) => ({
    submissionId: toWireId('sub', submissionId),
    state,
  }));
  printRecord({ ...nodeRow(node, links), link: links?.get(nodeId) ?? null, running }, options);
}
