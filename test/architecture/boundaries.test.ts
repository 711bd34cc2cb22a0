import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, expect, it } from 'vitest';

/**
 * The rule of .dependency-cruiser.mjs at work: a copy of the workspace's outline, in a directory of
 * its own, in which one file breaks one rule.
 */

const checkoutDir = path.resolve(import.meta.dirname, '../..');
let dir: string;

beforeAll(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'svc-boundaries-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

interface Plant {
  readonly file: string;
  readonly text: string;
}
