/** A mutant that no test has to kill, because it breaks no promise of the original. */
export interface Equivalent {
  readonly id: string;
  readonly file: string;
  readonly change: string;
  readonly reason: string;
}

export const equivalents: readonly Equivalent[] = [
  {
    id: '5ec93d20d594',
    file: 'packages/domain/src/ledger.ts',
    change: '`movements.push(movement)` and `after = movement.after` run in the other order',
    reason: 'Neither reads what the other writes.',
  },
  {
    id: '9175be03162e',
    file: 'packages/domain/src/pricing.ts',
    change: 'the check that an estimate is never over the worst case is removed',
    reason: '`charge` clamps to what `maxCharge` prices, so the invariant always holds.',
  },
  {
    id: '291f3189fabc',
    file: 'packages/signing/src/sealing.ts',
    change: '`setAAD` and `setAuthTag` of a decipher are called in the other order',
    reason: 'Both only set what `final` checks.',
  },
  {
    id: 'b1cd9a61e40b',
    file: 'packages/signing/src/sealing.ts',
    change:
      'the condition for `Buffer.from` is inverted: a text is passed as it is, and bytes are copied',
    reason: 'A cipher reads a text as UTF-8, as `Buffer.from` does.',
  },
  {
    id: '4ffdf52a46f9',
    file: 'packages/node-agent/src/agent.ts',
    change: '`isClosed` is set and the timer is cleared in the other order',
    reason: 'No other code runs between the two.',
  },
  {
    id: 'd9b8ef1493d7',
    file: 'packages/node-agent/src/agent.ts',
    change: 'the socket of a link that has ended is kept until the next link',
    reason: 'A closed socket ignores another send and another close.',
  },
  {
    id: 'e8d2f97f45d5',
    file: 'packages/node-agent/src/agent.ts',
    change: 'an accepted offer is remembered after its accept is sent, not before',
    reason: 'No frame arrives between the two.',
  },
  {
    id: 'd24d8f3eb17c',
    file: 'packages/node-agent/src/lock.ts',
    change: 'the code of an error is read without a check that the error has a code',
    reason: '`open` rejects only with such errors.',
  },
  {
    id: '513294e03a54',
    file: 'services/webhooks/src/schedule.ts',
    change: 'when its timer fires, an endpoint is woken before `#remembered` is reduced, not after',
    reason: '`wake` does not read `#remembered`.',
  },
  {
    id: 'fd25ff638e2a',
    file: 'services/dispatcher/src/wire/hello.ts',
    change: '`undefined` is looked up among the ids that were given',
    reason: '`undefined` is not one of these ids.',
  },
  {
    id: '5e4ee38913bb',
    file: 'packages/queue/src/fleet-registry.ts',
    change: 'an answer that names a node counts as a reservation, even if it is not `reserved`',
    reason: 'The script names a node only in the answer `reserved`.',
  },
  {
    id: '0b17cf871219',
    file: 'packages/signing/src/key-objects.ts',
    change: 'the oldest key is deleted without a check that there is one',
    reason: 'A key has just been added, so there is an oldest one.',
  },
  {
    id: '451e847475a2',
    file: 'packages/queue/src/fleet-scripts.ts',
    change:
      'after a dispatcher dies, each node in its `links:…` is dropped, even if the entry of the node names another dispatcher',
    reason:
      'A script that deletes an entry or changes its dispatcher also removes the node from `links:…`.',
  },
  {
    id: 'f4acbbedc791',
    file: 'packages/queue/src/fleet-scripts.ts',
    change: '`viewOf` reads the nodes again if `view.limit` equals `nodesMin`',
    reason:
      'The original reads again later, if a node that it has not read may be better (`view.least`). So the original and the mutant choose equally good nodes.',
  },
  {
    id: '33cc973a3acb',
    file: 'services/settlement/src/settle.ts',
    change: 'a settlement is logged after the failpoint of its commit',
    reason: 'The log line of a settlement is not guaranteed if a crash follows the commit.',
  },
  {
    id: 'd226bdf93d44',
    file: 'services/settlement/src/reconcile.ts',
    change:
      'a submission is passed to the settlement even if the store refused to record it as failed',
    reason:
      'Without a stored outcome, the settlement does nothing. With one, it settles a submission that is due anyway.',
  },
  {
    id: 'fa43ab47ca6c',
    file: 'services/settlement/src/reconcile.ts',
    change: 'a pass may read one page more',
    reason: 'The limit of pages only ends a pass. The next pass continues from there.',
  },
  {
    id: 'b7b10578d7b5',
    file: 'services/settlement/src/reconcile.ts',
    change:
      'an empty list is settled too if the number of submissions to settle is a multiple of `batchIdsMax`',
    reason: 'An empty list settles nothing.',
  },
  {
    id: '83d5cdda9aa3',
    file: 'packages/store/src/schema/roles.ts',
    change: 'a ROLLBACK is sent without waiting for it',
    reason: 'When the caller closes the connection, Postgres rolls back the transaction anyway.',
  },
  {
    id: '6b07918a1a9a',
    file: 'packages/store/src/assignments/lost-assignments.ts',
    change: 'an async function returns a promise without awaiting it',
    reason: 'The caller awaits the same result.',
  },
  {
    id: 'd7f37b9795d3',
    file: 'services/dispatcher/src/fleet/follow-nodes.ts',
    change:
      'the other settings of a disabled node are applied to its link after the link was closed',
    reason: 'The link has ended, so they have no effect.',
  },
];
