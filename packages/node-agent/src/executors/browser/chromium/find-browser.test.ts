import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { newStateDir } from './chromium.fixture.ts';
import { findBrowser, installCommand } from './find-browser.ts';

const names = ['chromium-headless-shell', 'chromium', 'google-chrome', 'chrome'];

test('the browsers are preferred in the order of the contract, wherever they are on the PATH', () => {
  const parent = newStateDir();
  const files = names.toReversed().map((name) => path.join(parent, name, name));
  for (const file of files) {
    mkdirSync(path.dirname(file));
    writeFileSync(file, '');
    chmodSync(file, 0o755);
  }
  const searchPath = files.map((file) => path.dirname(file)).join(path.delimiter);
  for (const file of files.toReversed()) {
    expect(findBrowser({ searchPath, platform: 'linux' })).toBe(file);
    rmSync(file);
  }
  expect(findBrowser({ searchPath, platform: 'linux' })).toBeUndefined();
});

test('a directory, a file that is no program, and a relative directory are passed over', () => {
  const parent = newStateDir();
  mkdirSync(path.join(parent, 'chromium'));
  writeFileSync(path.join(parent, 'chrome'), '', { mode: 0o644 });
  const searchPath = [parent, '.', ''].join(path.delimiter);
  expect(findBrowser({ searchPath, platform: 'linux' })).toBeUndefined();
});

test('the command that installs a browser is that of the system', () => {
  expect(installCommand('linux')).toContain('apt-get install chromium-headless-shell');
  expect(installCommand('darwin')).toContain('brew');
});
