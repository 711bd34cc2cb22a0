import { Listr } from 'listr2';

export type Say = (line: string) => void;

export interface Progress {
  readonly step: <T>(title: string, run: (say: Say) => Promise<T>) => Promise<T>;
  readonly print: (text: string) => void;
}

/**
 * A terminal with fewer columns gets plain lines instead of the live display. A terminal of unknown
 * width reports 0 columns.
 */
const columnsMin = 40;

export function createProgress(stream: NodeJS.WriteStream = process.stdout): Progress {
  const print = (text: string) => void stream.write(`${text}\n`);
  const isWide = stream.isTTY && stream.columns >= columnsMin;
  return isWide ? { step: stepOnTerminal, print } : { step: stepInLines(print), print };
}

async function stepOnTerminal<T>(title: string, run: (say: Say) => Promise<T>): Promise<T> {
  let result: Promise<T> | undefined;
  const list = new Listr(
    {
      title,
      async task(_, task) {
        result = run((line) => (task.output = line));
        await result;
      },
      // Keeps all lines of a step instead of only the last one.
      rendererOptions: { outputBar: Number.POSITIVE_INFINITY, persistentOutput: true },
    },
    {
      // The launcher handles signals and prints errors itself.
      registerSignalListeners: false,
      rendererOptions: { showErrorMessage: false },
    },
  );
  await list.run();
  if (result === undefined) throw new Error('the step was not run');
  return result;
}

function stepInLines(print: (text: string) => void): Progress['step'] {
  return async (title, run) => {
    const startedMs = performance.now();
    print(`> ${title}`);
    const result = await run((line) => print(`    ${line}`));
    print(`    done in ${((performance.now() - startedMs) / 1_000).toFixed(1)} s`);
    return result;
  };
}
