import type * as fc from 'fast-check';
import { by, type Command, type Playground } from './command.ts';
import {
  acceptLate,
  answerOffer,
  beginNothing,
  cancelOne,
  completeEarly,
  connectNode,
  cutLink,
  drainNode,
  endRun,
  endStoppedRun,
  lively,
  loseDisk,
  repeatOutcome,
  reportUsage,
  restartAgent,
  sayStopped,
  startRun,
  type Fleet,
} from './node-steps.ts';

type AnyFleet = Fleet & Playground;

const of = by<AnyFleet>;

export const nodeCommands: fc.Arbitrary<Command<AnyFleet>>[] = [
  ...of(24, 'lively', lively),
  ...of(10, 'accept', (world, n) => answerOffer(world, n, 'accept')),
  ...of(2, 'decline', (world, n) => answerOffer(world, n, 'decline')),
  ...of(1, 'accept-late', acceptLate),
  ...of(8, 'start', startRun),
  ...of(1, 'start-foreign', beginNothing),
  ...of(3, 'usage', reportUsage),
  ...of(5, 'complete', (world, n) => endRun(world, n, 'completed')),
  ...of(2, 'fail', (world, n) => endRun(world, n, 'failed')),
  ...of(1, 'complete-early', completeEarly),
  ...of(1, 'complete-stopped', endStoppedRun),
  ...of(1, 'repeat', repeatOutcome),
  ...of(2, 'stopped', sayStopped),
  ...of(2, 'cut', (world, n) => cutLink(world, n, { isNoticed: true })),
  ...of(1, 'cut-unnoticed', (world, n) => cutLink(world, n, { isNoticed: false })),
  ...of(10, 'connect', connectNode),
  ...of(2, 'restart-agent', restartAgent),
  ...of(1, 'lose-disk', loseDisk),
  ...of(1, 'drain-node', drainNode),
  ...of(3, 'cancel', (world, n) => cancelOne(world, n, { isAnnounced: n % 4 !== 0 })),
];
