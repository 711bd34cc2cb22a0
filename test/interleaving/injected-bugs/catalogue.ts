import type { InjectedBug } from '../../faults/injected-bugs/injected-bug.ts';

/** A bug that only some interleavings of the processes show. The run with `seed` found the bug. */
export interface OrderBug extends InjectedBug {
  readonly seed: number;
  /**
   * The name of an action (world/actions.ts), or `faults`. In the runs with this bug the action or
   * the faults are frequent, so few runs are enough to find the bug.
   */
  readonly focus: string;
  readonly foundAs: RegExp;
}

const beginning = 'packages/store/src/assignments/begin.ts';
const endingLocks = 'packages/store/src/endings/locks.ts';

const anyInstanceBegins = {
  file: beginning,
  from: 'AND (state = ANY($from) OR state = $to AND begun_instance = ($instance_id)[array_position($id, id)])',
  to: 'AND (state = ANY($from) OR state = $to)',
};

export const orderBugs: readonly OrderBug[] = [
  {
    name: 'any-process-begins',
    what: 'two agents open one journal, and both begin the submission',
    edits: [
      anyInstanceBegins,
      {
        file: 'packages/node-agent/src/lock.ts',
        from: 'if (code === lockedElsewhere) throw inUse(directory);',
        to: 'if (code === lockedElsewhere) return;',
      },
      {
        file: 'packages/node-agent/src/journal.ts',
        from: "  if (await isThere(begun)) return 'taken';\n",
        to: "  if (await isThere(begun)) return 'claimed';\n",
      },
    ],
    seed: 5,
    focus: 'start twin',
    foundAs: /was executed 2 times/,
  },
  {
    name: 'any-instance-begins',
    what: 'a second agent, started on a copy of the state directory, also gets `begin`',
    edits: [anyInstanceBegins],
    seed: 1,
    focus: 'start clone',
    foundAs: /was executed 2 times/,
  },
  {
    name: 'stale-hello-counts',
    what: 'a `hello` ends assignments of its node, although the node has opened a newer link since',
    edits: [
      {
        file: 'packages/store/src/assignments/lost-assignments.ts',
        from: 'AND link_epoch = $2::bigint FOR NO KEY UPDATE',
        to: 'AND link_epoch >= $2::bigint FOR NO KEY UPDATE',
      },
      {
        file: 'services/dispatcher/src/wire/hello.ts',
        from: `  const compared = compareHello(frame.running, await assignmentsOf(store, nodeId));
  if (hasEnded(link)) return;`,
        to: '  const compared = compareHello(frame.running, await assignmentsOf(store, nodeId));',
      },
    ],
    seed: 7,
    focus: 'stall greeting',
    foundAs: /failed as node_lost while its node works on it/,
  },
  {
    name: 'settings-from-before-the-wait',
    what: 'an ending waits for the lock on its account, then uses the webhook settings that it read before',
    edits: [
      {
        file: endingLocks,
        from: 'a.low_balance_threshold_micros\n  FROM credit_accounts a\n',
        to: `a.low_balance_threshold_micros,
    t.webhook_url IS NOT NULL AND t.webhook_disabled_at IS NULL AS notified
  FROM credit_accounts a JOIN tenants t ON t.id = a.tenant_id
`,
      },
      {
        file: endingLocks,
        from: '        lowBalanceThresholdMicros: row.low_balance_threshold_micros,\n',
        to: `        lowBalanceThresholdMicros: row.low_balance_threshold_micros,
        notified: row.notified,
`,
      },
      {
        file: 'packages/store/src/endings/events.ts',
        from: '{ submission }: EndedSubmission,\n  type: EventType,',
        to: '{ submission, account }: EndedSubmission,\n  type: EventType,',
      },
      {
        file: 'packages/store/src/endings/events.ts',
        from: 'notified: submission.notified,',
        to: 'notified: account.notified,',
      },
    ],
    seed: 16,
    focus: 'change URL',
    foundAs: /has (a|no) delivery, though/,
  },
  {
    name: 'own-hold-not-recognised',
    what: 'if the answer to a committed hold is lost, the repeated hold gets key_taken, so the gateway waits for a submission that nobody enqueued',
    edits: [
      {
        file: 'packages/store/src/submissions/hold.ts',
        from: "return attempt === 'repeat' ? recogniseOwn(store, submissions, outcomes) : outcomes;",
        to: 'return attempt ? outcomes : recogniseOwn(store, submissions, outcomes);',
      },
    ],
    seed: 1,
    focus: 'faults',
    foundAs: /is answered dispatch_unavailable, but no gateway tried to enqueue its submission/,
  },
];
