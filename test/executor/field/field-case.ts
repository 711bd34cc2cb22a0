import type { Failure } from '../../../packages/node-agent/src/executor.ts';
import { createBrowserExecutor } from '../../../packages/node-agent/src/executors/browser/index.ts';
import { type FixtureAnswer, type FixtureRequest, listen } from '../employers/server/listen.ts';
import { payloadTextOf, runJobInAgent, type WireOutcome, withStateDir } from '../run-job.ts';
import { resume } from './applicant.ts';
import { faultsOfValues, type Values, valuesOf, type Wanted } from './received.ts';

/**
 * A page of an employer, an applicant, and the outcome that a careful person would reach. A POST to
 * the server of the case is a submission, unless `respond` answers it.
 */
export interface FieldCase {
  readonly id: string;
  readonly url: string;
  /** The content of `body`. */
  readonly page: string;
  readonly lang?: string;
  readonly profile: unknown;
  /** How the site answers the submission. The default is a page of thanks. */
  readonly reply?: Extract<FixtureAnswer, object>;
  /** Answers side requests, such as uploads and searches. */
  readonly respond?: (request: FixtureRequest) => FixtureAnswer | undefined;
  /** More host names that the server answers. */
  readonly hosts?: readonly string[];
  readonly expected: Expected;
  /** True if the page has no place for a resume. */
  readonly hasNoResume?: boolean;
}

export type Expected =
  | { readonly outcome: 'completed'; readonly received: Readonly<Record<string, Wanted>> }
  | {
      readonly outcome: 'failed';
      readonly code: Failure['code'];
      /** Texts that the message of the failure must contain. */
      readonly names?: readonly string[];
      /** The values of the submission, if the site must receive one. */
      readonly received?: Readonly<Record<string, Wanted>>;
    };

export interface FieldReport {
  /** How the outcome differs from the expected one. */
  readonly faults: readonly string[];
  /**
   * Harm, whatever the outcome: two submissions, one without the resume, or a value that the profile
   * does not hold, such as one in a trap for robots.
   */
  readonly dangers: readonly string[];
}

const maxNodeSeconds = 100;
const htmlType = { 'content-type': 'text/html; charset=utf-8' };
const thanks =
  '<!doctype html><title>Thanks</title><h1>Thank you for applying!</h1><p>We have received your application.</p>';
const style =
  'body{font:15px/1.4 sans-serif;max-width:720px;margin:24px auto}label,legend{display:block}fieldset{border:0;padding:0;margin:12px 0}.vh{position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0 0 0 0);clip-path:inset(50%);white-space:nowrap}';

function pageOf({ page, lang = 'en' }: FieldCase): string {
  return `<!doctype html><html lang="${lang}"><head><meta charset="utf-8"><title>Apply</title><style>${style}</style></head><body>${page}</body></html>`;
}

function faultsOfOutcome(expected: Expected, outcome: WireOutcome): string[] {
  if (outcome.type === 'completed') {
    return expected.outcome === 'completed' ? [] : [`the job completed, not ${expected.code}`];
  }
  const { code, message, submitted } = outcome.failure;
  const ended = `the job failed with ${code} (${message})`;
  if (expected.outcome === 'completed') return [ended];
  const faults = code === expected.code ? [] : [`${ended}, not ${expected.code}`];
  for (const name of expected.names ?? []) {
    if (!message.includes(name)) faults.push(`the message does not name ${name}: ${message}`);
  }
  if (expected.received === undefined && submitted !== false) {
    faults.push('the failure does not say submitted: false');
  }
  return faults;
}

function reportOf(
  { expected, hasNoResume = false }: FieldCase,
  outcome: WireOutcome,
  submissions: readonly Values[],
): FieldReport {
  const faults = faultsOfOutcome(expected, outcome);
  const dangers: string[] = [];
  const wantedCount = expected.received === undefined ? 0 : 1;
  if (submissions.length > 1) dangers.push(`the site received ${submissions.length} submissions`);
  if (submissions.length !== wantedCount) {
    faults.push(`the site received ${submissions.length} submissions, not ${wantedCount}`);
  }
  for (const values of submissions) {
    const { missing, invented } = faultsOfValues(expected.received ?? {}, values);
    faults.push(...missing);
    dangers.push(...invented);
    const hasResume = [...values.values()].flat().some((value) => value.endsWith(resume.name));
    if (!hasResume && !hasNoResume) dangers.push('the site received no resume');
  }
  return { faults, dangers };
}

/** Runs one case with a new server, browser and state directory. */
export async function runFieldCase(fieldCase: FieldCase, binary: string): Promise<FieldReport> {
  const submissions: Values[] = [];
  const server = await listen((request) => {
    const answer = fieldCase.respond?.(request);
    if (answer !== undefined) return answer;
    if (request.method === 'POST') {
      submissions.push(valuesOf(request));
      return { status: 200, headers: htmlType, body: thanks, ...fieldCase.reply };
    }
    const isPage = request.path === new URL(fieldCase.url).pathname;
    const body = isPage ? pageOf(fieldCase) : thanks;
    return { status: 200, headers: htmlType, body };
  });
  const hosts = [new URL(fieldCase.url).hostname, ...(fieldCase.hosts ?? [])];
  const address = { address: '127.0.0.1', port: server.port };
  try {
    const { outcome } = await withStateDir(async (stateDir) => {
      const executor = createBrowserExecutor({
        binary,
        isSandboxed: false,
        stateDir,
        hostMap: new Map(hosts.map((host) => [`${host}:80`, address])),
        log: () => {},
      });
      const text = payloadTextOf(fieldCase.url, 'generic', fieldCase.profile);
      return await runJobInAgent(stateDir, executor, text, maxNodeSeconds);
    });
    return reportOf(fieldCase, outcome, submissions);
  } finally {
    await server.close();
  }
}
