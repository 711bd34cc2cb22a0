import type { InjectedBug } from './injected-bug.ts';

const offers = 'services/dispatcher/src/offering/node-offers.ts';
const runs = 'services/dispatcher/src/runs/runs.ts';
const dispatching = 'packages/store/src/assignments/dispatch.ts';

export const dispatchBugs: readonly InjectedBug[] = [
  {
    name: 'assign-before-commit',
    what: 'the payload is sent to the node before `dispatched` is committed',
    edits: [
      {
        file: offers,
        from: 'import { commitDispatched, type DispatchCommit }',
        to: 'import { commitDispatched, loadForDispatch, type DispatchCommit }',
      },
      {
        file: offers,
        from: '  let commit: DispatchCommit;\n',
        to: `  let commit: DispatchCommit;
  const [early] = await loadForDispatch(dispatcher.store, [submissionId]);
  if (early !== undefined) assign(dispatcher, link, { message, run, payloadText: early.payloadText, receipt: 'early' });
`,
      },
      {
        file: offers,
        from: '  assign(dispatcher, link, { message, run, ...commit });\n',
        to: '',
      },
    ],
  },
  {
    name: 'dispatched-again',
    what: 'the commit of `dispatched` also takes submissions that are dispatched already',
    edits: [
      {
        file: dispatching,
        from: 'ELSE ${runLimitMs.standard} END\n  WHERE id = ANY($id) AND state = ANY($from)',
        to: 'ELSE ${runLimitMs.standard} END\n  WHERE id = ANY($id) AND (state = ANY($from) OR state = $to)',
      },
    ],
  },
  {
    name: 'begin-before-commit',
    what: 'the node gets `begin` before `running` is committed',
    edits: [
      {
        file: runs,
        from: '  const commit = await traced(',
        to: `  sendFrame(link, { type: 'begin', submissionId: frame.submissionId });
  const commit = await traced(`,
      },
      {
        file: runs,
        from: "  if (!run.isStopping) sendFrame(link, { type: 'begin', submissionId: frame.submissionId });\n",
        to: '',
      },
    ],
  },
  {
    name: 'acknowledge-before-stored',
    what: 'an outcome is acknowledged before it is stored',
    edits: [
      {
        file: runs,
        from: 'const stored = await traced(',
        to: `sendFrame(link, { type: 'ack', submissionId: frame.submissionId });
    const stored = await traced(`,
      },
    ],
  },
  {
    name: 'reply-taken-for-truth',
    what: 'a gateway answers 201 after any reply of a dispatcher, or after 1 s, without a check of the state',
    edits: [
      {
        file: 'services/gateway/src/submissions/dispatch-held.ts',
        from: "return (await replied) === 'dispatched' ? asDispatched(held) : undefined;",
        to: 'return (await replied, asDispatched(held));',
      },
    ],
  },
  {
    name: 'node-begins-again',
    what: 'after a restart, a node begins a job that it had begun before',
    edits: [
      {
        file: 'packages/node-agent/src/run-entry.ts',
        from: 'return endedEntry(failedOutcome(entry.submissionId, {}, failure));',
        to: "return { ...entry, phase: 'assigned', jobType: 'ats.application', payloadText: '{}' };",
      },
    ],
  },
];
