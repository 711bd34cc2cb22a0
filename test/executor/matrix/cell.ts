import { createBrowserExecutor } from '../../../packages/node-agent/src/executors/browser/index.ts';
import { createApplicant, type Applicant } from '../employers/applicant.ts';
import { atsNames, behaviours, type Ats, type Behaviour } from '../employers/behaviours.ts';
import { startEmployer, whyNotShown, type Employer } from '../employers/employer.ts';
import { payloadTextOf, type Ran, runJobInAgent, withStateDir } from '../run-job.ts';
import { expectedOf, type Expected } from './expected.ts';

export interface Cell {
  readonly ats: Ats;
  readonly behaviour: Behaviour;
}

export interface CellReport extends Cell {
  readonly faults: readonly string[];
  readonly seconds: number;
}

export const cells: readonly Cell[] = atsNames.flatMap((ats) =>
  behaviours
    .filter((behaviour) => whyNotShown(ats, behaviour) === undefined)
    .map((behaviour) => ({ ats, behaviour })),
);

export const notShown: readonly (Cell & { readonly reason: string })[] = atsNames.flatMap((ats) =>
  behaviours.flatMap((behaviour) => {
    const reason = whyNotShown(ats, behaviour);
    return reason === undefined ? [] : [{ ats, behaviour, reason }];
  }),
);

const maxNodeSeconds = 100;

function adapterOf(ats: Ats): string {
  return ats.startsWith('greenhouse') ? 'greenhouse' : ats;
}

function faultsOfReceipt(employer: Employer, applicant: Applicant, isReceived: boolean): string[] {
  const submissions = employer.submissions();
  const expected = isReceived ? 1 : 0;
  if (submissions.length !== expected) {
    return [`the employer received ${submissions.length} applications, not ${expected}`];
  }
  return submissions.flatMap((received) => employer.differences(applicant, received));
}

function faultsOfCompletion({ ats }: Cell, employer: Employer, steps: number, ran: Ran): string[] {
  const { outcome } = ran;
  if (outcome.type !== 'completed') {
    const { code, message } = outcome.failure;
    return [`the job failed with ${code} (${message}) instead of completing`];
  }
  const answered = employer.fields.filter(({ ask }) => ask !== 'pronouns').length;
  const expected = {
    adapter: adapterOf(ats),
    fieldsFilled: answered,
    fieldsLeft: employer.fields.length - answered,
    steps,
  };
  const details: Readonly<Record<string, unknown>> = { ...outcome.result.details };
  return Object.entries(expected).flatMap(([name, value]) =>
    details[name] === value ? [] : [`details.${name} is ${String(details[name])}, not ${value}`],
  );
}

function faultsOfFailure(expected: Expected & { kind: 'failed' }, { outcome }: Ran): string[] {
  if (outcome.type !== 'failed')
    return [`the job completed instead of failing with ${expected.code}`];
  const { code, message, submitted } = outcome.failure;
  const faults: string[] = [];
  if (code !== expected.code)
    faults.push(`the job failed with ${code} (${message}), not ${expected.code}`);
  if (expected.isReceived && submitted !== undefined)
    faults.push(
      `the failure reports "submitted: ${submitted}", but must leave out "submitted" when the employer is expected to receive the application`,
    );
  if (!expected.isReceived && submitted !== false)
    faults.push('the failure does not report submitted: false');
  if (!message.includes(expected.label ?? ''))
    faults.push(`the failure does not name the field ${expected.label}: ${message}`);
  return faults;
}

function faultsOfPrivacy({ canaries }: Applicant, sent: string): string[] {
  return canaries
    .filter((canary) => sent.includes(canary))
    .map((canary) => `the outcome or the executor's log contains personal data: ${canary}`);
}

/** Runs one cell with a new employer, browser and state directory. */
export async function runCell(cell: Cell, binary: string): Promise<CellReport> {
  const startedMs = performance.now();
  const { ats, behaviour } = cell;
  const employer = await startEmployer(cell);
  const applicant = createApplicant('M1');
  const log: string[] = [];
  try {
    const ran = await withStateDir(async (stateDir) => {
      const executor = createBrowserExecutor({
        binary,
        isSandboxed: false,
        stateDir,
        hostMap: employer.hosts,
        log: (...line) => void log.push(JSON.stringify(line)),
      });
      const text = payloadTextOf(employer.url, adapterOf(ats), applicant.profile);
      return await runJobInAgent(stateDir, executor, text, maxNodeSeconds);
    });
    const expected = expectedOf(behaviour);
    const isReceived = expected.kind === 'completed' || expected.isReceived;
    const faults = [
      ...faultsOfReceipt(employer, applicant, isReceived),
      ...(expected.kind === 'completed'
        ? faultsOfCompletion(cell, employer, expected.steps, ran)
        : faultsOfFailure(expected, ran)),
      ...faultsOfPrivacy(applicant, `${JSON.stringify(ran.outcome)}${log.join('\n')}`),
    ];
    return { ...cell, faults, seconds: (performance.now() - startedMs) / 1_000 };
  } finally {
    await employer.close();
  }
}
