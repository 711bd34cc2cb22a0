import type { InjectedBug } from './injected-bug.ts';

const batchRun = 'packages/store/src/connection/batch-run.ts';
const calls = 'packages/store/src/connection/calls.ts';
const reconcile = 'services/settlement/src/reconcile.ts';

/**
 * Bugs that a run with faults does not find. Most of them need a certain interleaving or one lost
 * answer. `caughtBy` names the test that finds each bug.
 */
export const waitBugs: readonly InjectedBug[] = [
  {
    name: 'settings-from-before-the-wait',
    what: 'an ending uses settings that it read before it locked the account: the rebate rate, and whether the webhook URL is active',
    caughtBy: 'packages/store/src/endings/settings-races.test.ts',
    edits: [
      {
        file: 'packages/store/src/endings/end-submissions.ts',
        from: '  const [accounts, submissions] = await Promise.all([',
        to: `  const early = await query<{ id: string; notified: boolean; rebate: number }>(
    'SELECT id, webhook_url IS NOT NULL AND webhook_disabled_at IS NULL AS notified, rebate_millionths AS rebate FROM tenants',
    [],
  );
  const [accounts, submissions] = await Promise.all([`,
      },
      {
        file: 'packages/store/src/endings/end-submissions.ts',
        from: '  const decided = submissions.map((submission) => {',
        to: `  const decided = submissions.map((read) => {
    const before = early.find(({ id }) => id === read.tenantId);
    const submission = { ...read, notified: before?.notified ?? false, rebateMillionths: before?.rebate ?? 0 };`,
      },
    ],
  },
  {
    name: 'late-outcome-beside-a-change',
    what: 'a late outcome reads the destinations of its event without a lock, so it may miss a new webhook URL',
    caughtBy: 'packages/store/src/endings/settings-races.test.ts',
    edits: [
      {
        file: 'packages/store/src/assignments/outcomes.ts',
        from: 'FROM tenants t WHERE id = $1::uuid FOR SHARE OF t`',
        to: 'FROM tenants t WHERE id = $1::uuid`',
      },
    ],
  },
  {
    name: 'own-hold-not-recognised',
    what: 'if the answer to a committed hold is lost, the repeated hold is refused, so no job is enqueued',
    caughtBy: 'packages/store/src/connection/lost-answers.test.ts',
    edits: [
      {
        file: 'packages/store/src/submissions/hold.ts',
        from: "return attempt === 'repeat' ? recogniseOwn(store, submissions, outcomes) : outcomes;",
        to: 'return outcomes;',
      },
    ],
  },
  {
    name: 'silence-one-by-one',
    what: 'if the answer to a batch is lost, its calls run again one by one instead of together',
    caughtBy: 'packages/store/src/connection/batching.test.ts',
    edits: [{ file: batchRun, from: 'if (isAnswerLost(error)) {', to: 'if (error === null) {' }],
  },
  {
    name: 'no-answer-in-time',
    what: 'a call waits until its statement ends, without a time limit',
    caughtBy: 'packages/store/src/connection/batching.test.ts',
    edits: [
      {
        file: calls,
        from: 'setTimeout(() => reject(new AnswerOverdue(answerMsMax)), answerMsMax)',
        to: 'setTimeout(() => {}, answerMsMax)',
      },
    ],
  },
  {
    name: 'reconciler-without-cursor',
    what: 'the reconciler reads only the first page of the overdue submissions',
    caughtBy: 'services/settlement/src/reconcile.test.ts',
    edits: [{ file: reconcile, from: 'progress.after = found.next;', to: 'found.next = null;' }],
  },
  {
    name: 'reconciler-without-backoff',
    what: 'a row that cannot be reconciled is retried in each pass',
    caughtBy: 'services/settlement/src/reconcile.test.ts',
    edits: [
      {
        file: reconcile,
        from: 'const due = candidates.filter(({ isInBackoff }) => !isInBackoff);',
        to: 'const due = candidates;',
      },
    ],
  },
];
