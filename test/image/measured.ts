import { readFileSync } from 'node:fs';
import { parseLogLine, parseReadyLine, type ServiceName } from '@svc/local';
import { waitUntil } from '@svc/testkit';
import { check, startMsMax } from './checks.ts';
import { type Containers, processOf } from './containers.ts';
import type { Engine } from './engine.ts';

/** The clock ticks per second in `/proc/PID/stat`, on x86-64 and on arm64. */
const ticksPerSecond = 100;
const readyMsMax = 120_000;

export async function checkStart(containers: Containers, name: ServiceName): Promise<void> {
  const { State: state, HostConfig: host } = await containers.inspect(name);
  const startedMs = Date.parse(state.StartedAt);
  // The log file is read directly, because calls of podman would slow down the start of the
  // service, which is measured here.
  const readyMs = await waitUntil(() => readyAfter(host.LogConfig.Path, startedMs), {
    what: `${name} to be ready`,
    timeoutMs: readyMsMax,
  });
  const cpuSeconds = cpuSecondsOf(await processOf(containers, name));
  const ms = readyMs - startedMs;
  check(
    `${name} is ready within 2 s`,
    ms <= startMsMax,
    `${(ms / 1000).toFixed(2)} s, ${cpuSeconds.toFixed(2)} s of CPU time`,
  );
}

function readyAfter(logFile: string, sinceMs: number): number | undefined {
  // Removes the time, the stream and the letter that podman writes before each line.
  const lines = readFileSync(logFile, 'utf8')
    .split('\n')
    .map((line) => line.replace(/^\S+ \S+ \S /, ''));
  const ready = lines.filter((line) => parseReadyLine(line) !== undefined);
  const times = ready.map((line) => Date.parse(String(parseLogLine(line)?.['time'])));
  return times.findLast((time) => time >= sinceMs);
}

function cpuSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name of the program may contain spaces. The name ends with the last parenthesis.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

const writeAttempt = `
const { writeFileSync } = require('node:fs');
const codes = ['/app/x', '/tmp/x', '/etc/x'].map((file) => {
  try { writeFileSync(file, ''); return 'written'; } catch (error) { return error.code; }
});
process.stdout.write(codes.join(' '));
`;

export async function checkRights(
  containers: Containers,
  engine: Engine,
  name: ServiceName,
): Promise<void> {
  const status = readFileSync(`/proc/${await processOf(containers, name)}/status`, 'utf8');
  const field = (wanted: string) => new RegExp(`^${wanted}:\\s*(\\S+)`, 'm').exec(status)?.[1];
  const user = field('Uid');
  check(`${name} must run as the user 1000, not as root`, user === '1000', `user ${user}`);
  const rights = `capabilities ${field('CapEff')}, no new privileges ${field('NoNewPrivs')}`;
  check(`${name} must have no privileges`, /^capabilities 0+, .* 1$/.test(rights), rights);
  const written = await engine.podman('exec', name, 'node', '-e', writeAttempt);
  check(
    `${name} must not be able to write to its file system`,
    written === 'EROFS EROFS EROFS',
    written,
  );
}
