import type { InjectedBug, SourceEdit } from './injected-bug.ts';

const holding = 'packages/store/src/submissions/hold.ts';
const ending = 'packages/domain/src/ending.ts';
const dropEntryIndex = 'DROP INDEX ledger_entries_submission_id_type_key';
const reconcile = 'services/settlement/src/reconcile.ts';

const nobodySettlesLater: SourceEdit = {
  file: reconcile,
  from: `case 'unsettled':
      return true;`,
  to: `case 'unsettled':
      return false;`,
};

export const moneyBugs: readonly InjectedBug[] = [
  {
    name: 'hold-without-condition',
    what: 'a hold is placed even without enough credit (and no CHECK refuses it)',
    edits: [
      {
        file: holding,
        from: ' AND c.max <= w.available AS granted',
        to: ' AS granted',
      },
    ],
    sql: [
      'ALTER TABLE credit_accounts DROP CONSTRAINT credit_accounts_no_overdraft',
      'ALTER TABLE ledger_entries DROP CONSTRAINT ledger_entries_figures',
    ],
  },
  {
    name: 'key-not-looked-at',
    what: 'a hold does not check its idempotency key, and no unique index refuses a taken key',
    edits: [
      {
        file: holding,
        from: 'earlier.tenant_id IS NOT NULL AS key_taken',
        to: 'false AS key_taken',
      },
    ],
    sql: ['DROP INDEX submissions_tenant_id_idempotency_key_key'],
  },
  {
    name: 'settlement-without-state',
    what: 'a settlement does not check whether the submission was settled (and no unique index refuses a second settlement)',
    edits: [
      {
        file: ending,
        from: "return moves(facts.state, 'settle_failed') ? { to: 'failed', chargeMicros: 0n } : null;",
        to: "return { to: 'failed', chargeMicros: 0n };",
      },
      {
        file: ending,
        from: "if (!moves(facts.state, 'settle_completed')) return null;",
        to: "if (facts.outcomeKind !== 'completed') return null;",
      },
    ],
    sql: [dropEntryIndex],
  },
  {
    name: 'cancel-without-state',
    what: 'a cancel does not check whether the submission has ended (and no unique index refuses a second end)',
    edits: [{ file: ending, from: "if (!moves(facts.state, 'cancel')) return null;", to: '' }],
    sql: [dropEntryIndex, 'ALTER TABLE submissions DROP CONSTRAINT submissions_outcome'],
  },
  {
    name: 'enqueue-before-commit',
    what: 'a settlement is enqueued before the outcome is stored, and the reconciler does not settle the outcome later',
    edits: [
      {
        file: 'services/dispatcher/src/runs/runs.ts',
        from: 'const enqueued = enqueueSettlements(producer, [submissionId]);',
        to: 'const enqueued = Promise.resolve();',
      },
      {
        file: 'services/dispatcher/src/runs/runs.ts',
        from: 'const stored = await traced(',
        to: `await enqueueSettlements(producer, [submissionId]).catch(() => {});
    const stored = await traced(`,
      },
      nobodySettlesLater,
    ],
  },
  {
    name: 'nobody-looks-for-outcomes',
    what: 'the reconciler does not settle a stored outcome whose settlement job was lost',
    edits: [nobodySettlesLater],
  },
  {
    name: 'nobody-looks-for-pending',
    what: 'the reconciler does not reject an overdue creation whose gateway died',
    edits: [
      {
        file: reconcile,
        from: 'const outcome = await rejectPending(deps.store, submissionId, { onlyOverdue: true });',
        to: "const outcome = { kind: deps === undefined ? 'rejected' : 'not_pending' };",
      },
    ],
  },
];
