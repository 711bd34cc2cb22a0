import { runSvc } from './run-svc.ts';

/**
 * A process that runs commands of `svc` one after another. This saves the start of a process for
 * each command.
 */

interface Order {
  readonly words: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function run({ words, env }: Order): Promise<Ran> {
  const printed = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    process[stream].write = (text: string | Uint8Array) => {
      printed[stream] += String(text);
      return true;
    };
  }
  process.env = env;
  await runSvc(words);
  return { code: takeExitCode(), ...printed };
}

function takeExitCode(): number {
  const code = Number(process.exitCode ?? 0);
  process.exitCode = 0;
  return code;
}

process.on('message', (order: Order) => void run(order).then((ran) => process.send?.(ran)));
process.on('disconnect', () => process.exit());
