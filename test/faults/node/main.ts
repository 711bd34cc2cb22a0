import { type Executor, type Journal, openJournal, startAgent } from '@svc/node-agent';
import { behave } from './behaviours.ts';
import { openNodeLog } from './node-log.ts';

/**
 * Runs the node agent. Its executor logs each application instead of sending it. Its journal also
 * logs assignments, begins, outcomes, stops and acknowledgements.
 */

const note = openNodeLog(setting('FAULTS_NODE_LOG'));

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`${name} is not set`);
  return value;
}

function memberOf(value: unknown, name: string): unknown {
  return new Map<string, unknown>(Object.entries(Object(value))).get(name);
}

function overheard(journal: Journal): Journal {
  note({ what: 'started', active: journal.found.map(({ submissionId }) => submissionId) });
  const ended = new Map<string, { outcome: 'completed' | 'failed'; code: string | null }>();
  for (const entry of journal.found) {
    if (entry.phase === 'ended') ended.set(entry.submissionId, outcomeOf(entry));
    // An earlier process began this submission. The agent reports it as failed, but does not write
    // this outcome to the journal. `write` therefore never gets the outcome.
    if (entry.phase === 'begun' || entry.phase === 'submitting') {
      ended.set(entry.submissionId, { outcome: 'failed', code: 'node_error' });
    }
  }
  return {
    ...journal,
    async write(entry) {
      const { submissionId } = entry;
      if (entry.phase === 'ended') {
        const outcome = outcomeOf(entry);
        ended.set(submissionId, outcome);
        note({ what: 'ended', submissionId, ...outcome });
      } else {
        note({ what: entry.phase, submissionId });
      }
      await journal.write(entry);
    },
    async claimBegin(submissionId, isFenced) {
      const claimed = await journal.claimBegin(submissionId, isFenced);
      if (claimed === 'claimed') note({ what: 'begun', submissionId });
      return claimed;
    },
    async remove(submissionId) {
      const outcome = ended.get(submissionId);
      // An outcome leaves the journal only when the service has acknowledged it.
      if (outcome === undefined) note({ what: 'stopped', submissionId });
      else note({ what: 'acknowledged', submissionId, ...outcome });
      ended.delete(submissionId);
      await journal.remove(submissionId);
    },
  };
}

type Ended = Extract<Parameters<Journal['write']>[0], { phase: 'ended' }>;

function outcomeOf({ outcome }: Ended): { outcome: 'completed' | 'failed'; code: string | null } {
  return outcome.type === 'completed'
    ? { outcome: 'completed', code: null }
    : { outcome: 'failed', code: outcome.failure.code };
}

const executor: Executor = {
  jobType: 'ats.application',
  name: 'faults',
  version: '1',
  usageIntervalMs: 300,
  consider: ({ sandboxBehaviour }) =>
    sandboxBehaviour === 'sandbox.decline' ? 'policy' : undefined,
  async run({ payloadText }, context) {
    const payload: unknown = JSON.parse(payloadText);
    const key = String(memberOf(memberOf(payload, 'jobContext'), 'key'));
    note({ what: 'executed', key });
    await behave(String(memberOf(payload, 'atsType')), context);
    return { confirmationId: key };
  },
};

startAgent({
  link: setting('SVC_NODE_LINK'),
  nodeId: setting('SVC_NODE_ID'),
  secret: setting('SVC_NODE_SECRET'),
  slots: Number(setting('SVC_NODE_SLOTS')),
  executors: [executor],
  journal: overheard(await openJournal(setting('SVC_NODE_STATE_DIR'))),
  log: (level, msg, fields = {}) =>
    void process.stdout.write(`${JSON.stringify({ level, at: Date.now(), ...fields, msg })}\n`),
});
// SIGTERM ends the process at once. Its journal keeps the runs.
process.on('SIGTERM', () => process.exit(0));
