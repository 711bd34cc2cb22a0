import { ledgerVerdictAgeMsMax } from '@svc/domain';
import { shortDuration } from '../durations.ts';
import { type Deployment, fault, type Finding, ok, warning } from './finding.ts';

const fullAuditAgeMsMax = 36 * 3_600_000;

export function checkWork(deployment: Deployment): Finding[] {
  return [ledger(deployment), deadLetters(deployment), retention(deployment)];
}

function ledger({ ledger: audit, databaseTime }: Deployment): Finding {
  const name = 'ledger audit';
  const start = 'Check that settlement runs, and read its log. `svc ledger verify` audits at once.';
  if (audit === null) return warning(name, 'no audit is complete yet', start);
  const failure = `the last audit failed: ${audit.error ?? 'the reason is unknown'}`;
  if (audit.at === null) {
    return audit.failedAt === null
      ? warning(name, 'no audit is complete yet', start)
      : fault(name, failure, start);
  }
  const ageOf = (at: Date) => Math.max(0, databaseTime.getTime() - at.getTime());
  const found = `the audit ${shortDuration(ageOf(audit.at))} ago found ${audit.faults.length} faults`;
  if (audit.faults.length > 0) {
    return fault(
      name,
      found,
      'Run `svc ledger verify`, and see "The ledger" in docs/OPERATIONS.md.',
    );
  }
  if (audit.failedAt !== null) return fault(name, failure, start);
  if (ageOf(audit.at) > ledgerVerdictAgeMsMax) return fault(name, found, start);
  if (audit.fullAt !== null && ageOf(audit.fullAt) > fullAuditAgeMsMax) {
    const full = `the last pass over the whole ledger ended ${shortDuration(ageOf(audit.fullAt))} ago`;
    return warning(name, full, start);
  }
  return ok(name, found);
}

function deadLetters({ deadLetters: count }: Deployment): Finding {
  if (count === 0) return ok('dead letters', 'none');
  return fault(
    'dead letters',
    `${count} rows cannot be reconciled`,
    'Read the errors of these rows in `svc status`, and remove their causes. Then run `svc queue retry-failed settlement` for submissions, and `svc queue retry-failed webhook` for deliveries.',
  );
}

function retention({ isPurgeLate, partitionsOverdue }: Deployment): Finding {
  const name = 'retention';
  const remedy = 'Check that settlement runs, and search its log for `purge`.';
  if (isPurgeLate) {
    const found = 'personal data is kept more than a day longer than PAYLOAD_RETENTION_DAYS';
    return fault(name, found, remedy);
  }
  if (partitionsOverdue !== null && partitionsOverdue.length > 0) {
    return warning(
      name,
      `these partitions are older than the retention: ${partitionsOverdue.join(', ')}`,
      'A delivery or a submission from the months of these partitions has not ended, or another session, such as a dump, locks the tables. Search the log of settlement for `partitions`.',
    );
  }
  if (isPurgeLate === null || partitionsOverdue === null) {
    return warning(
      name,
      'the retention cannot be checked, because svc found no settlement that reports all its retention settings',
      remedy,
    );
  }
  return ok(name, 'no personal data or partition is kept more than a day too long');
}
