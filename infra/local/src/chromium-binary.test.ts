import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { chromiumBinary, findChromium } from './chromium-binary.ts';
import { runCommand } from './run-command.ts';

function installPrograms(...names: string[]): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'svc-chromium-'));
  for (const name of names) {
    writeFileSync(path.join(dir, name), '#!/bin/sh\n');
    chmodSync(path.join(dir, name), 0o755);
  }
  vi.stubEnv('PATH', dir);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(dir, { recursive: true });
  });
  return dir;
}

it('prefers the headless shell, then Chromium, then Chrome', () => {
  const dir = installPrograms('chrome', 'google-chrome', 'chromium', 'chromium-headless-shell');
  for (const name of ['chromium-headless-shell', 'chromium', 'google-chrome', 'chrome']) {
    expect(findChromium()).toBe(path.join(dir, name));
    rmSync(path.join(dir, name));
  }
});

it('gives a browser that runs in an empty environment', async () => {
  const file = await chromiumBinary();
  const version = await runCommand([file, '--version'], { env: { PATH: process.env['PATH'] } });
  expect(version).toMatch(/\d+\.\d+\.\d+/);
});
