import type { NodeOptions } from '../options.ts';
import { checkLink } from './check-link.ts';
import { checkBrowser, checkDisk, checkEgress } from './check-machine.ts';
import type { Finding } from './finding.ts';

const nameWidth = 9;

function lineOf({ check, passed, text }: Finding): string {
  return `${passed ? 'ok  ' : 'FAIL'}  ${check.padEnd(nameWidth)}${text}\n`;
}

/** Returns the exit code: 1 if a check fails, otherwise 0 (CONTRACT 10). */
export async function doctor(options: NodeOptions): Promise<number> {
  const findings: Finding[] = [];
  const report = (found: readonly Finding[]): void => {
    findings.push(...found);
    for (const finding of found) process.stdout.write(lineOf(finding));
  };
  report(await checkLink(options, Date.now));
  if (options.executor === 'browser') report(await checkBrowser(options));
  report([await checkDisk(options)]);
  if (options.executor === 'browser') report([await checkEgress(options)]);
  return findings.every(({ passed }) => passed) ? 0 : 1;
}
