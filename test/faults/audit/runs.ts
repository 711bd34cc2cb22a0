import type { DecidedLine, ExecutedLine, Logged, NodeLine, OutcomeLine } from '../node/node-log.ts';
import { type FinalRecord, inWords } from './books.ts';
import type { Findings } from './findings.ts';

/** Promise 2: what the employers and the nodes saw, against what the tenants read. */
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

/** Given to the node that the commit of `dispatched` names, and so to one node only. */
function expectDispatched(
  findings: Findings,
  { submissionId, node }: Logged<DecidedLine>,
  record: FinalRecord | undefined,
  nodeOf: ReadonlyMap<string, string>,
): void {
  const dispatchedTo = nodeOf.get(submissionId);
  findings.expect(
    'a submission is given to one node, to which it was dispatched',
    dispatchedTo === node && record !== undefined && record.dispatchedAt !== null,
    submissionId,
    () =>
      `given to ${node}, dispatched to ${dispatchedTo ?? 'nobody'}; its record reads ${inWords(record)}`,
  );
}

/** By key, which is what the employer knows: an application that came under two submissions counts. */
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
    findings.expect('what reads submitted was done', executed.has(key), id, () => 'nobody did it');
  }
}

/** Only after the commit of `running` may a node act, and what has begun shows when. */
function expectBegun(findings: Findings, subject: string, record: FinalRecord | undefined): void {
  findings.expect(
    'a node acts only on what has begun',
    record !== undefined && record.startedAt !== null,
    subject,
    () => `its record reads ${inWords(record)}`,
  );
}

function isAcknowledged(line: NodeLine): line is OutcomeLine {
  return line.what === 'acknowledged';
}

/** An acknowledged outcome is the submission's, or its late one, or came after another end. */
function expectKept(findings: Findings, line: OutcomeLine, record: FinalRecord | undefined): void {
  const told = line.outcome === 'completed' ? 'submitted' : 'failed';
  const isOwn =
    record?.status === told && (told === 'submitted' || record.failureCode === line.code);
  findings.expect(
    'an outcome that was acknowledged is kept',
    record !== undefined && (isOwn || record.lateStatus === told),
    line.submissionId,
    () =>
      `${line.outcome} ${line.code ?? ''} was acknowledged; its record reads ${inWords(record)}`,
  );
}
