import { lstatSync, mkdirSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { newStateDir } from './chromium.fixture.ts';
import {
  createProfileDirectory,
  deleteProfileDirectory,
  newProfileDirectory,
} from './profile-directory.ts';

test('the path for temporary files is short, even if TMPDIR is as long as on macOS', async () => {
  const parent = newStateDir();
  const temporaryFiles = path.join(parent, 'T'.repeat(Math.max(1, 48 - parent.length)));
  mkdirSync(temporaryFiles);
  vi.stubEnv('TMPDIR', temporaryFiles);
  onTestFinished(() => void vi.unstubAllEnvs());
  const root = newProfileDirectory(path.join(parent, 'long-name'.repeat(12)));
  const { temporary, shortTemporary } = await createProfileDirectory(root);
  const socket = path.join(shortTemporary, 'org.chromium.Chromium.XXXXXX/SingletonSocket');
  expect(socket.length).toBeLessThanOrEqual(103);
  expect(readlinkSync(shortTemporary)).toBe(temporary);
  await deleteProfileDirectory(root);
  expect(lstatSync(shortTemporary, { throwIfNoEntry: false })).toBeUndefined();
});
