import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createApplicant } from '../employers/applicant.ts';
import { canariesIn } from './canaries.ts';

const applicant = createApplicant('Kept1');

function directoryWith(name: string, content: string | Buffer): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'svc-canaries-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  mkdirSync(path.join(dir, 'below'));
  writeFileSync(path.join(dir, 'below', name), content);
  return dir;
}

test.each([
  ['in plain text', 'a.log', JSON.stringify(applicant.profile)],
  ['in UTF-16', 'a.db', Buffer.from('xCanaryKept1x', 'utf16le')],
  ['in bytes of a file', 'a.bin', Buffer.from('xx resumecanaryKept1 xx')],
  ['in the name of a file', 'resume-Kept1.pdf', ''],
])('a value that is left %s is found', (_, name, content) => {
  expect(canariesIn([directoryWith(name, content)], applicant)).not.toEqual([]);
});

test('values of another applicant are not found', () => {
  const other = JSON.stringify(createApplicant('Other2').profile);
  expect(canariesIn([directoryWith('a.log', other)], applicant)).toEqual([]);
});
