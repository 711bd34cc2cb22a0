import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';

const fixture = fileURLToPath(new URL('./run-main.fixture.ts', import.meta.url));
const env = {
  PATH: process.env['PATH'],
  SVC_ENVIRONMENT: 'sandbox',
  DATABASE_URL: 'postgresql://postgres@127.0.0.1:5432/svc',
  REDIS_URL: 'redis://127.0.0.1:6379',
  SVC_MASTER_KEY: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
};

let child: ChildProcess | undefined;
afterEach(() => void child?.kill('SIGKILL'));

interface Line {
  readonly msg: string;
  readonly [field: string]: unknown;
}

interface Service {
  readonly process: ChildProcess;
  readonly lines: Line[];
  said(msg: string): Promise<Line>;
  exited(): Promise<number | null>;
}

function start(variables: Record<string, string>, how: 'fork' | 'spawn' = 'fork'): Service {
  const options = { env: { ...env, ...variables } };
  const started =
    how === 'fork'
      ? fork(fixture, [], { ...options, silent: true, execArgv: [] })
      : spawn(process.execPath, [fixture], options);
  child = started;
  const lines: Line[] = [];
  const waiting = new Map<string, (line: Line) => void>();
  if (started.stdout === null) throw new Error('no output');
  createInterface({ input: started.stdout }).on('line', (text) => {
    const line: Line = JSON.parse(text);
    lines.push(line);
    waiting.get(line.msg)?.(line);
  });
  const exit = Promise.all([once(started, 'exit'), once(started.stdout, 'end')]);
  return {
    process: started,
    lines,
    said: (msg) =>
      new Promise((resolve) => {
        const found = lines.find((line) => line.msg === msg);
        if (found !== undefined) resolve(found);
        else waiting.set(msg, resolve);
      }),
    async exited() {
      await exit;
      return started.exitCode;
    },
  };
}

test('a service logs ready with its ports, and drains on SIGTERM with exit code 0', async () => {
  const service = start({ EXAMPLE_BEHAVIOUR: 'run' });
  expect(await service.said('ready')).toMatchObject({ service: 'example', port: 1, adminPort: 2 });
  service.process.kill('SIGTERM');
  expect(await service.exited()).toBe(0);
  expect(service.lines.map(({ msg }) => msg)).toEqual(['ready', 'stopping', 'closed', 'stopped']);
});

test('a service with an invalid configuration exits with 2 and names the variables', async () => {
  const service = start({ EXAMPLE_BEHAVIOUR: 'run', REDIS_URL: '' });
  expect(await service.exited()).toBe(2);
  expect(service.lines[0]?.msg).toContain('REDIS_URL is not set');
});

test('a service that cannot start exits with 1 and logs the reason', async () => {
  const service = start({ EXAMPLE_BEHAVIOUR: 'cannot-start' });
  expect(await service.exited()).toBe(1);
  expect(service.lines.map(({ msg }) => msg)).toEqual(['the schema is not known']);
});

test('an uncaught exception is logged and ends the process with 1', async () => {
  const service = start({ EXAMPLE_BEHAVIOUR: 'crash' });
  expect(await service.exited()).toBe(1);
  expect(service.lines.at(-1)).toMatchObject({
    level: 'fatal',
    err: { message: 'broken invariant' },
  });
});

test('a warning writes all lines at once, so that a kill loses none of them', async () => {
  const service = start({ EXAMPLE_BEHAVIOUR: 'warn-and-die' });
  await service.exited();
  expect(service.lines.map(({ msg }) => msg)).toEqual(['before', 'worse']);
});

test('a single line is written without further lines', async () => {
  const service = start({ EXAMPLE_BEHAVIOUR: 'talk' });
  expect(await service.said('by the way')).toMatchObject({ level: 'info' });
});

test('a service ends when the parent with its IPC channel ends', async () => {
  const service = start({ EXAMPLE_BEHAVIOUR: 'run' });
  await service.said('ready');
  service.process.disconnect();
  expect(await service.exited()).toBe(0);
});

test('an armed failpoint stops the process once, until it is released', async () => {
  const service = start({ EXAMPLE_BEHAVIOUR: 'failpoint', SVC_FAILPOINTS: 'on' });
  await service.said('ready');
  service.process.send({ arm: 'example.point' });
  const [armed] = await once(service.process, 'message');
  expect(armed).toEqual({ armed: 'example.point' });
  service.process.send('pass twice');
  const [reached] = await once(service.process, 'message');
  expect(reached).toEqual({ failpoint: 'example.point' });
  service.process.send({ release: 'another.point' });
  service.process.send({ release: 'example.point' });
  await service.said('passed');
});

test('failpoints are refused in production and without a channel', async () => {
  const armed = { EXAMPLE_BEHAVIOUR: 'run', SVC_FAILPOINTS: 'on' };
  const production = start({ ...armed, SVC_ENVIRONMENT: 'production' });
  expect(await production.exited()).toBe(2);
  expect(production.lines[0]?.msg).toContain('must not be set in production');
  const alone = start(armed, 'spawn');
  expect(await alone.exited()).toBe(2);
  expect(alone.lines[0]?.msg).toContain('IPC channel');
});
