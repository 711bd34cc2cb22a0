import type { CommandOptions } from './command.ts';

export interface Progress {
  readonly show: (done: number) => void;
  readonly end: () => void;
}

const barWidth = 24;

/** Makes a progress bar on stderr. Shows nothing without a terminal or with `--json`. */
export function createProgress(what: string, total: number, options: CommandOptions): Progress {
  if (!process.stderr.isTTY || options.json === true) return { show: () => {}, end: () => {} };
  return {
    show(done) {
      const share = total === 0 ? 1 : Math.min(1, done / total);
      const bar = '█'.repeat(Math.round(share * barWidth)).padEnd(barWidth, '░');
      process.stderr.write(`\r${what} ${bar} ${done}/${total}`);
    },
    end: () => {
      process.stderr.write('\n');
    },
  };
}
