import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { isPidAlive } from './pid.fixture.ts';
import { freePort, isPortFree } from './ports.ts';
import {
  parseLogLine,
  parseReadyLine,
  type ServiceCommand,
  type ServiceProcess,
  startServiceProcess,
} from './service-process.ts';
import { StartError } from './start-error.ts';

const started: ServiceProcess[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((service) => service.kill()));
});

async function start(
  behaviour: string,
  more: Partial<ServiceCommand> = {},
): Promise<ServiceProcess> {
  const service = await startServiceProcess({
    name: 'stand-in',
    entry: path.join(import.meta.dirname, 'service-process.fixture.ts'),
    args: [behaviour],
    env: process.env,
    ...more,
  });
  started.push(service);
  return service;
}

it('returns the ports of the ready line', async () => {
  const service = await start('serve');
  expect(service.ready).toMatchObject({ adminPort: 1 });
  expect(await isPortFree(service.ready.port ?? 0)).toBe(false);
});

it('lets a process drain, and keeps its log', async () => {
  const service = await start('serve');
  await service.stop();
  expect(await service.exited).toBe('exited with 0');
  expect(service.logs().map((line) => parseLogLine(line)?.['msg'])).toStrictEqual([
    'ready',
    'stopping',
  ]);
});

it('kills a process that ignores SIGTERM', async () => {
  const service = await start('deaf');
  await service.stop(50);
  expect(await service.exited).toBe('was ended by SIGKILL');
});

it('refuses a command that cannot be started', async () => {
  const prefix = [path.join(import.meta.dirname, 'absent')];
  await expect(start('serve', { prefix })).rejects.toThrow(
    /^stand-in could not be started\. Its log ends with:\nspawn .* ENOENT$/,
  );
});

it('shows lines that arrive after the end of the process', async () => {
  await expect(start('die-late')).rejects.toMatchObject({
    message: 'stand-in exited with 1 before it was ready. Its log ends with:\nlate words',
  });
});

it('shows the log of a process that ends before it is ready', async () => {
  const failure = start('die');
  await expect(failure).rejects.toBeInstanceOf(StartError);
  await expect(failure).rejects.toMatchObject({
    message:
      'stand-in exited with 1 before it was ready. Its log ends with:\nDATABASE_URL is not set',
  });
});

it('receives and sends messages over the IPC channel', async () => {
  const heard: unknown[] = [];
  const service = await start('ask', { onMessage: (message) => heard.push(message) });
  await expect.poll(() => heard).toStrictEqual([{ question: 1 }]);
  service.send({ heard: heard[0] });
  await expect
    .poll(() => service.logs().map(parseLogLine).at(-1))
    .toStrictEqual({ msg: 'answered', answer: { heard: { question: 1 } } });
});

it.runIf(process.platform === 'linux')(
  'leaves no process behind when its parent is killed',
  async () => {
    const parent = await start('parent');
    const line = parent
      .logs()
      .map(parseLogLine)
      .find((entry) => entry?.['msg'] === 'started');
    const childPid = Number(line?.['child']);
    expect(isPidAlive(childPid)).toBe(true);
    await parent.kill();
    await expect.poll(() => isPidAlive(childPid)).toBe(false);
  },
);

it('recognises only ready lines', () => {
  expect(parseReadyLine('{"msg":"ready","port":1,"adminPort":2}')).toStrictEqual({
    port: 1,
    adminPort: 2,
  });
  expect(parseReadyLine('{"msg":"ready","adminPort":2}')).toStrictEqual({ adminPort: 2 });
  expect(parseReadyLine('{"msg":"almost ready"}')).toBeUndefined();
  expect(parseReadyLine('Error: not JSON')).toBeUndefined();
});

it('finds a free port', async () => {
  expect(await isPortFree(await freePort())).toBe(true);
});
