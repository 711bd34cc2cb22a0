import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

export interface ProcessReading {
  readonly pid: number;
  readonly parentPid: number;
  readonly groupId: number;
  /** True if the process has ended and its parent has not read its exit code yet. */
  readonly isZombie: boolean;
  /**
   * The user and system time of the process. On Linux, the time of a child counts too, once the
   * process has read the child's exit code.
   */
  readonly cpuSeconds: number;
}

/**
 * The unit of CPU times in /proc is a hundredth of a second, on each architecture that Node
 * supports.
 */
const ticksPerSecond = 100;
const bytesPerKib = 1024;

/**
 * Parses the text of /proc/<pid>/stat. The process name in this text may contain blanks and
 * brackets, so the fields are counted after the name.
 */
function parseStat(pid: number, text: string): ProcessReading | undefined {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state = '', ...numbers] = fields;
  const [parentPid, groupId] = numbers.map(Number);
  if (parentPid === undefined || groupId === undefined) return undefined;
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return {
    pid,
    parentPid,
    groupId,
    isZombie: /[ZX]/.test(state),
    cpuSeconds: ticks / ticksPerSecond,
  };
}

/** Undefined if the file cannot be read, for example because the process has ended. */
function readProcFile(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return undefined;
  }
}

function processIds(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}

function readProcTable(): ProcessReading[] {
  return processIds().flatMap((pid) => {
    const text = readProcFile(pid, 'stat');
    return (text === undefined ? undefined : parseStat(pid, text)) ?? [];
  });
}

function ps(columns: string): string[][] {
  const { stdout } = spawnSync('/bin/ps', ['-axww', '-o', columns], { encoding: 'utf8' });
  return (stdout ?? '').split('\n').map((line) => line.trim().split(/\s+/));
}

/** Converts a time in the format of ps(1), `[[days-]hours:]minutes:seconds`, to seconds. */
function secondsOf(time: string): number {
  const [rest = '', days = '0'] = time.split('-').toReversed();
  const seconds = rest.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return Number(days) * 86_400 + seconds;
}

function readPsTable(): ProcessReading[] {
  return ps('pid=,ppid=,pgid=,stat=,time=').flatMap(([pid, parentPid, groupId, state, time]) =>
    time === undefined
      ? []
      : [
          {
            pid: Number(pid),
            parentPid: Number(parentPid),
            groupId: Number(groupId),
            isZombie: state?.startsWith('Z') === true,
            cpuSeconds: secondsOf(time),
          },
        ],
  );
}

export function readProcessTable(): ProcessReading[] {
  return process.platform === 'linux' ? readProcTable() : readPsTable();
}

function kibOf(text: string | undefined, label: string): number | undefined {
  const match = new RegExp(`^${label}:\\s+(\\d+) kB$`, 'mu').exec(text ?? '');
  return match === null ? undefined : Number(match[1]);
}

/**
 * The proportional memory (PSS) of a process in bytes; 0 if it has ended. If a setuid sandbox hides
 * this figure, the result is the memory without mapped files.
 */
function proportionalBytes(pid: number): number {
  const proportional = kibOf(readProcFile(pid, 'smaps_rollup'), 'Pss');
  if (proportional !== undefined) return proportional * bytesPerKib;
  const status = readProcFile(pid, 'status');
  const unshared = (kibOf(status, 'RssAnon') ?? 0) + (kibOf(status, 'RssShmem') ?? 0);
  return unshared * bytesPerKib;
}

/**
 * The proportional memory (PSS) in bytes. macOS does not have this figure. The result there is the
 * resident memory, which counts shared memory several times.
 */
export function memoryBytesOf(pids: readonly number[]): number {
  if (process.platform === 'linux') {
    return pids.reduce((sum, pid) => sum + proportionalBytes(pid), 0);
  }
  const wanted = new Set(pids);
  return ps('pid=,rss=')
    .filter(([pid]) => wanted.has(Number(pid)))
    .reduce((sum, [, kib]) => sum + Number(kib) * bytesPerKib, 0);
}

function hasArgument(commandLine: string | undefined, start: string): boolean {
  return commandLine?.split('\0').some((one) => one.startsWith(start)) === true;
}

/**
 * The ids of the processes with an argument that starts with `text`. On systems other than Linux,
 * the ids of the processes whose command line contains `text`.
 */
export function processesWithCommand(text: string): number[] {
  if (process.platform === 'linux') {
    return processIds().filter((pid) => hasArgument(readProcFile(pid, 'cmdline'), text));
  }
  return ps('pid=,command=')
    .filter(([, ...command]) => command.join(' ').includes(text))
    .map(([pid]) => Number(pid));
}
