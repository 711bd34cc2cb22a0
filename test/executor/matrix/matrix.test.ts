import { chromiumBinary } from '@svc/local';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createBrowserExecutor } from '../../../packages/node-agent/src/executors/browser/index.ts';
import { createApplicant } from '../employers/applicant.ts';
import { atsNames, behaviours } from '../employers/behaviours.ts';
import { startEmployer } from '../employers/employer.ts';
import { payloadTextOf, runJobInAgent, withStateDir } from '../run-job.ts';
import { type Cell, cells, notShown, runCell } from './cell.ts';

/**
 * The cells of `pnpm executor:matrix` that this test runs (docs/RELIABILITY.md). Together they
 * contain each applicant tracking system and each behaviour of an employer.
 */
const chosen: readonly string[] = [
  'greenhouse success',
  'greenhouse captcha-refused',
  'greenhouse field-errors',
  'greenhouse upload-refused',
  'greenhouse-legacy success',
  'greenhouse-legacy posting-closed',
  'greenhouse-embed success',
  'greenhouse-embed missing-answer',
  'lever visible-challenge',
  'lever cut',
  'lever double-submit',
  'ashby refusal-200',
  'ashby re-render',
  'workable late-render',
  'workable error-500',
  'workable invisible-captcha',
  'generic sign-in-wall',
  'generic optional-empty',
  'generic multi-step',
];

const nameOf = ({ ats, behaviour }: Cell): string => `${ats} ${behaviour}`;
let binary: string;

beforeAll(async () => {
  binary = await chromiumBinary();
});

describe('an application reaches the employer at most once, whole or not at all', () => {
  const part = cells.filter((cell) => chosen.includes(nameOf(cell)));

  test.for(part.map((cell) => ({ name: nameOf(cell), cell })))('$name', async ({ cell }) => {
    expect((await runCell(cell, binary)).faults).toEqual([]);
  });

  test('the part has every behaviour and every system', () => {
    expect(part).toHaveLength(chosen.length);
    expect(new Set(part.map(({ ats }) => ats))).toEqual(new Set(atsNames));
    expect(new Set(part.map(({ behaviour }) => behaviour))).toEqual(new Set(behaviours));
  });
});

test('a combination that does not exist has a reason', () => {
  expect(cells.length + notShown.length).toBe(atsNames.length * behaviours.length);
  expect(notShown.filter(({ reason }) => reason === '')).toEqual([]);
});

test('two jobs at once share no cookie, no file and no field', async () => {
  const employer = await startEmployer({ ats: 'lever' });
  onTestFinished(() => employer.close());
  const applicants = [createApplicant('One1'), createApplicant('Two2')];
  const run = (profile: unknown) =>
    withStateDir(async (stateDir) => {
      const executor = createBrowserExecutor({
        binary,
        isSandboxed: false,
        stateDir,
        hostMap: employer.hosts,
        log: () => {},
      });
      const text = payloadTextOf(employer.url, 'lever', profile);
      return await runJobInAgent(stateDir, executor, text, 100);
    });
  const ran = await Promise.all(applicants.map(({ profile }) => run(profile)));
  expect(ran.map(({ outcome }) => outcome.type)).toEqual(['completed', 'completed']);
  const submissions = employer.submissions();
  expect(submissions).toHaveLength(2);
  const differences = applicants.map((applicant) =>
    submissions
      .map((one) => employer.differences(applicant, one))
      .find(({ length }) => length === 0),
  );
  expect(differences).toEqual([[], []]);
  const visits = submissions.map(({ visit }) => visit);
  expect(visits).not.toContain(undefined);
  expect(new Set(visits).size).toBe(2);
});
