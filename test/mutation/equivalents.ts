import type { Equivalent } from './equivalent.ts';
import { equivalentsOfStore } from './equivalents-of-store.ts';

export const equivalents: readonly Equivalent[] = [
  ...equivalentsOfStore,
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
    id: 'd7f37b9795d3',
    file: 'services/dispatcher/src/fleet/follow-nodes.ts',
    change:
      'the other settings of a disabled node are applied to its link after the link was closed',
    reason: 'The link has ended, so they have no effect.',
  },
  {
    id: '58d8dbb4f910',
    file: 'packages/queue/src/fleet-scripts.ts',
    change: 'each reservation of a call frees what has expired, not only the first one',
    reason: 'All steps of a call have the same time, so the later ones find nothing more to free.',
  },
  {
    id: '5a06a965226a',
    file: 'packages/queue/src/fleet-scripts.ts',
    change: 'a link is superseded by one with an equal `linkEpoch`',
    reason: 'The condition around it lets only different epochs through.',
  },
  {
    id: '713e310daafe',
    file: 'packages/queue/src/fleet-registry.ts',
    change: 'an answer `reserved` is read without a check of its link',
    reason: 'The script always names node, dispatcher and link in the answer `reserved`.',
  },
  {
    id: 'd326e9f07db6',
    file: 'packages/queue/src/fleet-registry.ts',
    change: 'an answer `reserved` is read without a check of its node',
    reason: 'The script always names node, dispatcher and link in the answer `reserved`.',
  },
  {
    id: '6a502d74a67d',
    file: 'packages/queue/src/fleet-registry.ts',
    change: 'an answer `reserved` is read without a check of its dispatcher',
    reason: 'The script always names node, dispatcher and link in the answer `reserved`.',
  },
  {
    id: '7243bc8c6d02',
    file: 'packages/queue/src/fleet-registry.ts',
    change: 'an answer with a dispatcher is read as a reservation, even if it is not `reserved`',
    reason: 'The script names a dispatcher only in the answer `reserved`.',
  },
  {
    id: '04433ae0bbc9',
    file: 'packages/queue/src/fleet-registry.ts',
    change: 'the headroom of a tier is computed for 101 slots instead of 100',
    reason: 'The headroom of each tier in slots is the same for 100 and for 101.',
  },
  {
    id: '8f74b6824999',
    file: 'packages/queue/src/fleet-registry.ts',
    change: 'an epoch of 0 counts as superseded',
    reason: 'An epoch is a time in milliseconds, so it is never 0.',
  },
  {
    id: '6d2b6c2611d4',
    file: 'packages/queue/src/fleet-registry.ts',
    change: 'an epoch of 0 counts as superseded',
    reason: 'An epoch is a time in milliseconds, so it is never 0.',
  },
  {
    id: 'aaab123ef9be',
    file: 'packages/queue/src/fleet-scripts.ts',
    change: 'a node of a dead dispatcher is not removed from `links:…` after the check',
    reason:
      '`drop` has removed it. A script that changes the dispatcher of a node also moves the node.',
  },
  {
    id: '18c7f69c9688',
    file: 'packages/queue/src/fleet-scripts.ts',
    change: 'changed nodes are not counted before a lost node is dropped',
    reason:
      '`viewOf` counts them before the next read. A dropped node leaves no sum in either order.',
  },
  {
    id: '7a3967874690',
    file: 'packages/queue/src/fleet-scripts.ts',
    change: 'a link is superseded by one with an equal `epoch`',
    reason:
      'Two links have one epoch only if the registry was lost in the same millisecond. Then nothing says which is newer.',
  },
  {
    id: '4fd0c4a2670f',
    file: 'packages/queue/src/fleet-scripts.ts',
    change: 'a page of nodes has one node more',
    reason: 'The script reads a longer page anyway if a node outside may be better.',
  },
  {
    id: '4d2bf87c91d1',
    file: 'packages/queue/src/fleet-registry.ts',
    change: 'the last heartbeat of a suspected dispatcher is 1 ms after 1970 instead of 0 ms',
    reason: 'Both are dead by decades.',
  },
  {
    id: '02e9584ecb8e',
    file: 'packages/queue/src/fleet-scripts.ts',
    change: 'a new link has an epoch that is higher by 2 instead of 1',
    reason: 'The epoch only has to be higher.',
  },
  {
    id: 'c274d11fd057',
    file: 'packages/queue/src/fleet-registry.ts',
    change: 'the number of other dispatchers is read without a check that it is a number',
    reason: 'The script always returns a number.',
  },
  {
    id: '8a099a316de9',
    file: 'packages/queue/src/fleet-scripts.ts',
    change: 'a release or confirmation does not discard the views of the call',
    reason: '`takeSteps` puts these steps before all reservations, so there is no view yet.',
  },
  {
    id: '59a6cd71976f',
    file: 'packages/queue/src/fleet-registry.ts',
    change: 'an answer with a link is read as a reservation, even if it is not `reserved`',
    reason: 'The script names a link only in the answer `reserved`.',
  },
  {
    id: '41f1ade22d27',
    file: 'packages/queue/src/fleet-scripts.ts',
    change: 'among equals, a node with the same id as the best one replaces it',
    reason: 'A list has each node once.',
  },
  {
    id: 'b10085fb40a6',
    file: 'packages/queue/src/fleet-library.ts',
    change: 'a dropped node stays in the memory of the script',
    reason: 'No script reads a node again after it has dropped it.',
  },
  {
    id: '02ff56e98b37',
    file: 'packages/queue/src/fleet-fairness.ts',
    change: 'a tenant is forgotten if its grants equal `grantsKeptMin`',
    reason: 'A decayed count of grants never equals 0.05.',
  },
  {
    id: '9d3fcb631581',
    file: 'packages/queue/src/fleet-fairness.ts',
    change: 'the level is the capacity if the last demand equals the rest',
    reason: 'In both cases, no demand is above the level.',
  },
  {
    id: '5ac900ab7b93',
    file: 'packages/queue/src/fleet-fairness.ts',
    change: 'a tenant comes before itself',
    reason: 'A list has each tenant once.',
  },
  {
    id: 'd65f6df19bb4',
    file: 'packages/queue/src/fleet-fairness.ts',
    change: 'a gap of exactly ten minutes is 0',
    reason: 'A tenant that was silent for so long was forgotten before.',
  },
  {
    id: '903418c652b5',
    file: 'services/settlement/src/solana/list-account.ts',
    change: 'null is looked up among the listed signatures',
    reason: 'null is not one of these signatures.',
  },
];
