import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { checkoutDir, freePort } from '@svc/local';
import { bareEnvironment, waitUntil } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';

const commandsMax = 10;
const startBoundMs = 90_000;
const bound = { timeoutMs: 30_000 };

function integrationBlocks(): string[] {
  const readme = readFileSync(path.join(checkoutDir, 'README.md'), 'utf8');
  const [, section = ''] = readme.split('\n## Integrate\n');
  const [chapter = ''] = section.split('\n## ');
  return [...chapter.matchAll(/```sh\n([^]*?)```/g)].map(([, block = '']) => block);
}

/**
 * The first lines of the commands. Indented lines continue a command, and a line that begins with a
 * closing brace ends a function.
 */
function commandsOf(blocks: readonly string[]): string[] {
  return blocks
    .flatMap((block) => block.split('\n'))
    .filter((line) => line !== '' && !/^(?:\s|\})/.test(line));
}

/**
 * A shell in its own process group. At the end of the test the group is ended, with every process
 * that the shell left running.
 */
function openShell(cwd: string, env: NodeJS.ProcessEnv) {
  const shell = spawn('sh', ['-e'], { cwd, env, detached: true });
  let output = '';
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  }
  onTestFinished(() => endGroup(shell));
  return { shell, type: (block: string) => shell.stdin.write(block), output: () => output };
}

async function endGroup(shell: ChildProcess): Promise<void> {
  const { pid } = shell;
  if (pid === undefined) return;
  const closed = once(shell, 'close');
  try {
    process.kill(-pid, 'SIGINT');
    process.kill(-pid, 'SIGTERM');
  } catch {
    // Every process of the group has already ended.
  }
  await closed;
}

test(
  'from npm start to a settled submission and a verified webhook, in ten commands at most',
  {
    timeout: 2 * startBoundMs,
  },
  async () => {
    const blocks = integrationBlocks();
    expect(commandsOf(blocks).length).toBeLessThanOrEqual(commandsMax);
    const dir = mkdtempSync(path.join(tmpdir(), 'svc-readme-'));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    symlinkSync(path.join(checkoutDir, 'docs'), path.join(dir, 'docs'));
    const [gatewayPort, webhookPort] = [await freePort(), await freePort()];
    const [start = '', signUp = '', submit = '', look = '', ...more] = blocks.map((block) =>
      block.replaceAll('8080', `${gatewayPort}`).replaceAll('9000', `${webhookPort}`),
    );
    expect(more).toEqual([]);
    expect(start).toBe('npm start\n');
    const first = openShell(checkoutDir, {
      ...bareEnvironment(),
      SVC_LOCAL_DIR: path.join(dir, 'state'),
      SVC_DEMO: '0',
      GATEWAY_PORT: `${gatewayPort}`,
      NODE_LINK_PORT: '0',
    });
    first.type(start);
    await waitUntil(() => first.output().includes('Ctrl-C ends everything'), {
      timeoutMs: startBoundMs,
    });
    const second = openShell(dir, bareEnvironment());
    second.type(signUp);
    second.type(submit);
    await waitUntil(() => second.output().includes('"status":"dispatched"'), bound);
    expect(second.output()).toContain('"balance":10000');
    await waitUntil(() => second.output().includes('submission.completed'), bound);
    expect(second.output()).toMatch(/verified \{"id":"evt_[^\n]*submission\.completed/);
    second.type(look);
    await waitUntil(() => second.output().includes('"status":"submitted"'), bound);
    expect(second.output()).toMatch(/"actualCredits":\d/);
  },
);
