import { ledgerVerdictAgeMsMax } from '@svc/domain';
import { shortDuration } from '../durations.ts';
import { bold, dim, green, red } from '../output.ts';
import { plainText, tableLines } from '../table.ts';
import { deadLetterLines, deadLettersRecord } from './dead-letters.ts';
import { queueCells, queueColumns } from './queue-table.ts';
import { isHeard, type ServiceStatus } from './service-status.ts';

const services = ['gateway', 'dispatcher', 'settlement', 'webhooks'];
const states = ['pending', 'dispatched', 'running', 'settling'] as const;

export function statusRecord(status: ServiceStatus): object {
  const { environment, databaseTime, inFlight, nodes, ledger, live } = status;
  return {
    environment,
    database: 'reachable',
    databaseTime,
    redis: live === null ? 'not reachable' : 'reachable',
    redisFault: status.redisFault,
    services:
      live?.services.map((instance) => ({
        ...instance,
        state: isHeard(instance) ? 'running' : 'silent',
      })) ?? null,
    queues: live?.queues ?? null,
    submissions: inFlight.submissions,
    deliveries: { pending: inFlight.deliveriesPending, due: inFlight.deliveriesDue },
    nodes,
    fleet: live === null ? null : { ...live.fleet, busy: live.fleet.slots - live.fleet.free },
    surge: live?.surge ?? null,
    ledger: ledgerRecord(ledger),
    deadLetters: deadLettersRecord(status.deadLetters),
  };
}

/** `widthMax` limits the width of the tables, in terminal columns. Undefined: no limit. */
export function statusLines(status: ServiceStatus, widthMax?: number): string[] {
  return [
    headLine(status),
    ...(status.redisFault === null ? [] : [red(status.redisFault)]),
    '',
    ...serviceLines(status, widthMax),
    '',
    ...queueLines(status, widthMax),
    '',
    ...tableOf(['in flight', ...states, 'deliveries', 'due'], [inFlightCells(status)], widthMax),
    '',
    ...fleetLines(status, widthMax),
    '',
    ledgerLine(status),
    ...deadLetterLines(status.deadLetters, status.databaseTime, widthMax),
  ];
}

function headLine({ environment, databaseTime, live }: ServiceStatus): string {
  const redis = live === null ? red('Redis unreachable') : green('Redis reachable');
  return `${bold(environment)}  ${databaseTime.toISOString()}  ${green('Postgres reachable')}  ${redis}`;
}

function tableOf(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  widthMax: number | undefined,
): string[] {
  const [first = '', ...lines] = tableLines(head, rows, widthMax);
  return [dim(first), ...lines];
}

function serviceLines(
  { live, databaseTime }: ServiceStatus,
  widthMax: number | undefined,
): string[] {
  if (live === null) return [dim('services'), 'unknown without Redis'];
  const rows = live.services.map((instance) => {
    const { service, host, pid, startedAt, silentMs } = instance;
    const upMs = Math.max(0, databaseTime.getTime() - new Date(startedAt).getTime());
    const state = isHeard(instance) ? 'running' : `silent for ${shortDuration(silentMs)}`;
    return [service, state, shortDuration(upMs), host, String(pid)];
  });
  const missing = services.filter(
    (name) => !live.services.some((one) => one.service === name && isHeard(one)),
  );
  return [
    ...tableOf(['service', 'state', 'since', 'host', 'pid'], rows, widthMax),
    ...(missing.length === 0 ? [] : [red(`not running: ${missing.join(', ')}`)]),
  ];
}

function queueLines({ live }: ServiceStatus, widthMax: number | undefined): string[] {
  if (live === null) return [dim('queues'), 'unknown without Redis'];
  return tableOf(queueColumns, live.queues.map(queueCells), widthMax);
}

function inFlightCells({ inFlight }: ServiceStatus): string[] {
  const { submissions, deliveriesPending, deliveriesDue } = inFlight;
  const counts = states.map((state) => String(submissions[state] ?? 0));
  return ['submissions', ...counts, String(deliveriesPending), String(deliveriesDue)];
}

function fleetLines({ nodes, live }: ServiceStatus, widthMax: number | undefined): string[] {
  const { slots, free } = live?.fleet ?? { slots: 0, free: 0 };
  const counts = [nodes.known, nodes.seenLately, nodes.draining, nodes.disabled].map(String);
  const capacity = live === null ? ['-', '-', '-'] : [slots, slots - free, free].map(String);
  const surge = live?.surge ?? null;
  return tableOf(
    ['fleet', 'known', 'seen', 'draining', 'disabled', 'slots', 'busy', 'free', 'surge'],
    [['nodes', ...counts, ...capacity, surge === null ? '-' : surge.toFixed(2)]],
    widthMax,
  );
}

/**
 * The `ledger` member of the JSON output. Null if no audit of the ledger has ended or failed yet.
 */
function ledgerRecord(ledger: ServiceStatus['ledger']): object | null {
  if (ledger === null || (ledger.at === null && ledger.failedAt === null)) return null;
  const { step: _step, faults, ...rest } = ledger;
  return { ...rest, faults: faults.length };
}

function ledgerLine({ ledger, databaseTime }: ServiceStatus): string {
  const name = bold('ledger');
  const ageOf = (at: Date) => Math.max(0, databaseTime.getTime() - at.getTime());
  if (ledger === null || (ledger.at === null && ledger.failedAt === null))
    return `${name}  not verified yet; run \`svc ledger verify\``;
  const { at, faults, tenants, submissions, failedAt, error, fullAt, fullRatio } = ledger;
  const isLate = at === null || ageOf(at) > ledgerVerdictAgeMsMax;
  const found =
    faults.length > 0
      ? red(`${faults.length} faults; run \`svc ledger verify\``)
      : green('correct');
  const parts = [
    at === null && faults.length === 0 ? red('not verified') : found,
    dim(`${tenants} tenants, ${submissions} submissions`),
    dim(at === null ? 'no audit is complete yet' : `audited ${shortDuration(ageOf(at))} ago`),
    dim(
      `whole ledger: ${fullAt === null ? 'not read yet' : `last read ${shortDuration(ageOf(fullAt))} ago`}, current reading ${Math.floor(fullRatio * 100)} % complete`,
    ),
  ];
  if (failedAt !== null)
    parts.push(red(`the last audit failed: ${plainText(error ?? 'the reason is unknown')}`));
  else if (isLate) parts.push(red('the next audit is overdue; run `svc doctor`'));
  return `${name}  ${parts.join('  ')}`;
}
