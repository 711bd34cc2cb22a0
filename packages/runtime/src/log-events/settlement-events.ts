import { actions, error, info, type LogEvent, saying, warn } from './definition.ts';

export const settlementEvents = {
  'settlement.key_limits_sealed': info('sealed the limits of keys', ['keys']),
  'settlement.submission_settled': info('settled', [
    'requestId',
    'submissionId',
    'state',
    'charged',
  ]),
  'settlement.settle_failed': error(
    'a submission could not be settled',
    ['err', 'submissionId'],
    actions.retried,
  ),
  'settlement.key_missing': warn(
    'this process lacks the master key to settle a submission',
    ['err', 'submissionId'],
    'Nothing for the submission: a process that has the key settles it. `svc doctor` names the key. Add it to `SVC_MASTER_KEY` of this process.',
  ),
  'settlement.deliveries_not_announced': warn(
    'could not enqueue the wake-up job for deliveries',
    ['err', 'count'],
    actions.redis,
  ),
  'settlement.submission_reconciled': warn(
    'reconciled an overdue submission',
    ['submissionId', 'kind'],
    'Nothing for a single line. If there are many lines, find the process, node or Redis server that failed before the first line.',
  ),
  'settlement.reconcile_failed': warn(
    'could not reconcile a submission',
    ['err', 'submissionId', 'kind'],
    actions.retried,
  ),
  'settlement.cancel_not_announced': warn(
    'could not ask the dispatchers to stop the work on a failed submission at its node',
    ['err', 'submissionId'],
    'Nothing: the node gets `cancel` when it next sends `start` or `usage`. If the line repeats, check Redis.',
  ),
  'settlement.figures_read_failed': warn(
    'could not read the figures for the shared metrics',
    ['err'],
    'Check Postgres and Redis. This process lacks some shared metrics until a later read succeeds.',
  ),
  'settlement.housekeeping_failed': error(
    'settlement could not check partitions or read the last ledger audit when it started; it tries again',
    ['err'],
    'Read `err`, and check Postgres. Then run `svc doctor`: it shows missing partitions.',
  ),
  'settlement.partitions_created': info('partitions created', ['made']),
  'settlement.partition_not_created': warn(
    'a partition could not be created',
    ['err'],
    'Read `err`. Settlement tries again. Partitions are created months before they are needed.',
  ),
  'settlement.partitions_missing': error(
    'partitions are missing',
    ['missing'],
    'Find the reason in the warnings before this line. If there is no such warning, another process was creating partitions. Rows of a missing partition go to the default partition.',
  ),
  'settlement.partitions_dropped': info('old partitions dropped', ['dropped']),
  'settlement.partitions_kept': info(
    'old partitions are kept, because a delivery or a submission in flight still needs them',
    ['needed'],
  ),
  'settlement.events_deleted': info('old events deleted', ['deleted', 'deliveryDays']),
  'settlement.data_purged': info('personal data purged', ['purged', 'retentionDays']),
  'settlement.purge_failed': warn(
    'could not purge the personal data of a submission',
    ['err', 'submissionId'],
    `${actions.retried} Personal data must not stay longer than \`PAYLOAD_RETENTION_DAYS\`.`,
  ),
  'settlement.ledger_verified': info('the ledger audit found no faults', [
    'tenants',
    'submissions',
    'fullRatio',
  ]),
  'settlement.ledger_faulty': error(
    'the ledger audit has found faults',
    ['tenants', 'submissions', 'faults'],
    'Follow the section on the ledger in docs/OPERATIONS.md at once. `faults` lists the known faults. `svc ledger verify` audits the whole ledger now.',
  ),
  'settlement.ledger_faults_gone': warn(
    'faults that the ledger audit found before are no longer in its result',
    ['faults'],
    'Find out who corrected them. `svc audit list` does not show changes by SQL.',
  ),
  'settlement.audit_head_sealed': info('audit head', ['position', 'hash']),
  'settlement.audit_log_faulty': error(
    'the audit log has faults',
    ['position', 'faults'],
    'Somebody may have changed the audit log in the database. Follow the section on the audit log in docs/OPERATIONS.md.',
  ),
} as const satisfies Record<string, LogEvent>;

export const solanaEvents = {
  'solana.watching': info('this process watches the Solana payments', ['epoch']),
  'solana.rpc_unreachable_at_start': warn(
    'the Solana RPC server gave no usable answer; settlement tries again',
    ['reason'],
    'Check the RPC server and `SOLANA_RPC_URL`. Payments are credited when the server answers.',
  ),
  'solana.rpc_unavailable': warn(
    'a call to the Solana RPC server failed',
    ['reason', 'pauseMs'],
    'Check the RPC server. Payments are credited when it answers.',
  ),
  'solana.terms_refused': saying(
    'error',
    'why no payment is credited',
    ['variable'],
    'Repair what the line reports. If you change an environment variable, restart settlement. Payments are then credited.',
  ),
  'solana.lease_not_returned': warn(
    'could not give back the lease of the Solana watcher',
    ['err'],
    'Nothing: the lease expires, and then a settlement process takes it.',
  ),
  'solana.transaction_unread': warn(
    'could not read a Solana transaction; the watcher will try again',
    ['transaction', 'error'],
    'If the line repeats for one transaction, look up this transaction in a Solana explorer.',
  ),
  'solana.slot_beyond_chain': warn(
    'the RPC server listed a slot that the chain has not reached; the cursor does not follow it',
    ['chainSlot'],
    'If the line repeats, use another RPC server. Payments are credited meanwhile.',
  ),
  'solana.intent_paid': info('a purchase intent was paid and its credits were granted', [
    'transaction',
    'reference',
  ]),
  'solana.payment_added': info(
    'a payment was added to a purchase intent, but granted no credits: the intent is closed or not yet paid in full',
    ['transaction', 'reference'],
  ),
  'solana.payment_unassigned': warn(
    'an incoming payment was not added to any purchase intent',
    ['transaction', 'reference'],
    'Find the payer of the transaction on the chain. Then refund the payment, or grant credits with `svc solana assign`.',
  ),
  'solana.balance_exceeded': error(
    'a paid purchase intent was not credited: the balance of its tenant would exceed the limit',
    ['transaction', 'reference'],
    'Refund the payment, or run `svc solana assign` after the intent closed and the balance fell.',
  ),
  'solana.delivery_not_announced': warn(
    'could not enqueue the wake-up job for the webhook about a payment',
    ['err'],
    actions.redis,
  ),
} as const satisfies Record<string, LogEvent>;
