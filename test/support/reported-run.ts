import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export interface ReportedRun {
  /** The exit code of vitest. */
  readonly status: number;
  /** Empty if the test ended before it wrote its report. */
  readonly report: string;
}

/**
 * Runs a test file with vitest. The environment variable with the name `reportVariable` gives it
 * the path of the report that it must write.
 */
export function runReported(
  file: string,
  reportVariable: string,
  { words = [], env = {} }: { words?: readonly string[]; env?: NodeJS.ProcessEnv } = {},
): ReportedRun {
  const dir = mkdtempSync(path.join(tmpdir(), 'svc-report-'));
  const reportFile = path.join(dir, 'report');
  const { status } = spawnSync('vitest', ['run', ...words, file], {
    stdio: 'inherit',
    env: { ...process.env, ...env, [reportVariable]: reportFile },
  });
  const report = existsSync(reportFile) ? readFileSync(reportFile, 'utf8') : '';
  rmSync(dir, { recursive: true });
  return { status: status ?? 1, report };
}
