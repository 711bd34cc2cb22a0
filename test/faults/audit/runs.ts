import type { DecidedLine, ExecutedLine, Logged, NodeLine, OutcomeLine } from '../node/node-log.ts';
import { type FinalRecord, inWords } from './books.ts';
import type { Findings } from './findings.ts';

export function auditRuns(
  findings: Findings,
  lines: readonly Logged<NodeLine>[],
  records: readonly FinalRecord[],
  nodeOf: ReadonlyMap<string, string>,
): void {
  const byId = new Map(records.map((record) => [record.id, record]));
  const byKey = new Map(records.map((record) => [record.key, record]));
  auditExecutions(
    findings,
    lines.filter((line) => line.what === 'executed'),
    byKey,
  );
  for (const line of lines) {
    if (line.what === 'assigned')
      expectDispatched(findings, line, byId.get(line.submissionId), nodeOf);
    if (line.what === 'begun')
      expectBegun(findings, line.submissionId, byId.get(line.submissionId));
    if (isAcknowledged(line)) expectKept(findings, line, byId.get(line.submissionId));
  }
}

function expectDispatched(
  findings: Findings,
  { submissionId, node }: Logged<DecidedLine>,
  record: FinalRecord | undefined,
  nodeOf: ReadonlyMap<string, string>,
): void {
  const dispatchedTo = nodeOf.get(submissionId);
  findings.expect(
    'only the assigned node gets the submission',
    dispatchedTo === node && record !== undefined && record.dispatchedAt !== null,
    submissionId,
    () =>
      `${node} got the submission, which was dispatched to ${dispatchedTo ?? 'nobody'}; its record reads ${inWords(record)}`,
  );
}

/**
 * An execution stands for an application that reaches an employer. One idempotency key may reach an
 * employer once, even if two submissions have the key.
 */
function auditExecutions(
  findings: Findings,
  lines: readonly Logged<ExecutedLine>[],
  byKey: ReadonlyMap<string, FinalRecord>,
): void {
  const executed = Map.groupBy(lines, ({ key }) => key);
  for (const [key, times] of executed) {
    findings.expect('no application reaches an employer twice', times.length === 1, key, () =>
      times.map(({ node, atMs }) => `${node} at ${new Date(atMs).toISOString()}`).join(', '),
    );
    expectBegun(findings, key, byKey.get(key));
  }
  for (const [key, { id, status }] of byKey) {
    if (status !== 'submitted') continue;
    findings.expect(
      'every submission with the status `submitted` was executed by a node',
      executed.has(key),
      id,
      () => 'no node executed it',
    );
  }
}

/** A node may act only after the commit of `running`, which sets `startedAt`. */
function expectBegun(findings: Findings, subject: string, record: FinalRecord | undefined): void {
  findings.expect(
    'a node acts only on submissions that have begun',
    record !== undefined && record.startedAt !== null,
    subject,
    () => `its record reads ${inWords(record)}`,
  );
}

function isAcknowledged(line: NodeLine): line is OutcomeLine {
  return line.what === 'acknowledged';
}

function expectKept(findings: Findings, line: OutcomeLine, record: FinalRecord | undefined): void {
  const reported = line.outcome === 'completed' ? 'submitted' : 'failed';
  const isOwn =
    record?.status === reported && (reported === 'submitted' || record.failureCode === line.code);
  findings.expect(
    'an acknowledged outcome is stored',
    record !== undefined && (isOwn || record.lateStatus === reported),
    line.submissionId,
    () => `record: ${inWords(record)}; acknowledged outcome: ${line.outcome} ${line.code ?? ''}`,
  );
}
