import type { InjectedBug } from './injected-bug.ts';

const fence = 'packages/node-agent/src/executors/browser/fence/open-submit-fence.ts';
const gate = 'packages/node-agent/src/executors/browser/fence/gate.ts';
const caughtBy = 'test/executor/fence.test.ts';

export const fenceBugs: readonly InjectedBug[] = [
  {
    name: 'fence-submits-before-journal',
    what: 'the submit control is activated before the journal has recorded `submitting`',
    caughtBy,
    edits: [
      {
        file: fence,
        from: '      await this.#options.submitting();',
        to: `      this.#phase = 'activated';
      void activate();
      activate = () => Promise.resolve();
      await this.#options.submitting();`,
      },
    ],
  },
  {
    name: 'fence-without-gate',
    what: 'all requests pass after the submission request, whatever their content',
    caughtBy,
    edits: [
      {
        file: gate,
        from: "return safeMethods.includes(method) && (isPreflight || !isMatch) ? 'continue' : 'abort';",
        to: "return 'continue';",
      },
    ],
  },
  {
    name: 'fence-without-seal',
    what: 'the submission request travels on a connection that the browser has used before',
    caughtBy,
    edits: [
      { file: fence, from: '    proxy.shut();\n    await this.#requestsCut();\n', to: '' },
      { file: fence, from: '    proxy.seal(request);\n', to: '' },
    ],
  },
  {
    name: 'fence-retries',
    what: 'after the submission request was cut, the fence lets the page send the application again',
    caughtBy,
    edits: [
      {
        file: fence,
        from: "    if (this.#isSettled || status === undefined || kind === 'repeat') {\n",
        to: `    if (status === undefined && !this.#isSettled) {
      this.#options.proxy.shut();
      this.#submission = undefined;
      this.#phase = 'activated';
      return fail(session, paused);
    }
    if (this.#isSettled || status === undefined || kind === 'repeat') {\n`,
      },
    ],
  },
  {
    name: 'fence-follows-307',
    what: 'the browser sends the application again if a redirect asks it to',
    caughtBy,
    edits: [
      {
        file: gate,
        from: "  if (!repeatingStatuses.includes(status)) return 'final';\n  return safeMethods.includes(method) ? 'follow' : 'repeat';",
        to: "  return repeatingStatuses.includes(status) ? 'follow' : 'final';",
      },
      {
        file: fence,
        from: 'if (isSubmission && !paused.isRedirect) return this.#resume(session, paused);',
        to: 'if (isSubmission) return this.#resume(session, paused, paused.isRedirect);',
      },
    ],
  },
  {
    name: 'fence-believes-cut-answers',
    what: 'an answer whose body was cut counts as a complete answer',
    caughtBy,
    edits: [{ file: fence, from: 'if (await isWhole)', to: 'if ((await isWhole) || bodyText)' }],
  },
];
