import type { InjectedBug } from './injected-bug.ts';

const browser = 'packages/node-agent/src/executors/browser';
const fence = `${browser}/fence/open-submit-fence.ts`;
const gate = `${browser}/fence/gate.ts`;
const caughtBy = 'pnpm executor:faults';

/**
 * Bugs with which an employer may get an application twice (CONTRACT 10). With some, a sent
 * application is reported as not sent, so the tenant may repeat it.
 */
export const submissionBugs: readonly InjectedBug[] = [
  {
    name: 'submit-before-the-journal',
    what: 'the application is submitted before the journal has recorded `submitting`',
    caughtBy,
    edits: [
      {
        file: fence,
        from: `    try {
      await this.#options.submitting();
    } catch (error) {
      this.stop();
      throw error;
    }
`,
        to: '    setTimeout(() => void this.#options.submitting().catch(() => {}), 200);\n',
      },
    ],
  },
  {
    name: 'no-request-gate',
    what: 'after the first submission request, the gate lets every request leave the browser',
    caughtBy,
    edits: [
      { file: gate, from: "      return 'hold';", to: "      return 'continue';" },
      {
        file: gate,
        from: "(isPreflight || !isMatch) ? 'continue' : 'abort';",
        to: "(isPreflight || !isMatch) ? 'continue' : 'continue';",
      },
    ],
  },
  {
    name: 'no-fresh-connection',
    what: 'the submission request travels on a connection on which the browser may repeat it',
    caughtBy,
    edits: [
      { file: fence, from: '    proxy.shut();\n    await this.#requestsCut();\n', to: '' },
      { file: fence, from: '    proxy.seal(request);\n', to: '' },
      {
        file: fence,
        from: "kind === 'unanswered') this.#options.proxy.shut()",
        to: "kind === 'unanswered') void 0",
      },
    ],
  },
  {
    name: 'unreachable-after-the-fence',
    what: 'a submission request without an answer is reported as `site_unreachable`',
    caughtBy,
    edits: [
      {
        file: `${browser}/job/submit-form.ts`,
        from: "'node_error',\n          'The node got no usable answer to the form.",
        to: "'site_unreachable',\n          'The node got no usable answer to the form.",
      },
    ],
  },
  {
    name: 'retry-after-an-error',
    what: 'a job that fails is tried once more, and the journal does not stop the second try',
    caughtBy,
    edits: [
      {
        file: `${browser}/job/run-job.ts`,
        from: '    return await runWithProxy(job, { ...context, signal }, options, reading);\n',
        to: `    const again = { ...context, signal, submitting: () => context.submitting().catch(() => {}) };
    return await runWithProxy(job, again, options, reading).catch(() => runWithProxy(job, again, options, reading));
`,
      },
    ],
  },
  {
    name: 'restart-denies-the-submission',
    what: 'after a restart, a run that may have submitted is reported as not submitted',
    caughtBy,
    edits: [
      {
        file: 'packages/node-agent/src/run-entry.ts',
        from: "return entry.phase === 'begun' && entry.isFenced;",
        to: "return entry.phase === 'submitting' || (entry.phase === 'begun' && entry.isFenced);",
      },
    ],
  },
];
