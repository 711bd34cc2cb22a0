import path from 'node:path';
import { employerHost } from './demo-employer/employer.ts';
import { openLogFile } from './log-file.ts';
import { nodeAgentCommand, type NodePlace } from './node-agent-command.ts';
import { unprivileged } from './postgres-account.ts';
import { startServiceProcess } from './service-process.ts';
import { StartError } from './start-error.ts';

export interface BrowserNode {
  readonly confinement: string;
  stop(): Promise<void>;
}

export interface BrowserNodePlace extends Omit<NodePlace, 'name'> {
  readonly browser: string;
  readonly employerPort: number;
  readonly logsDir: string;
  readonly onLine: (line: string) => void;
}

interface Way {
  readonly prefix: readonly string[];
  readonly args: readonly string[];
  readonly confinement: string;
}

/**
 * While the demo runs, this node is usually the whole fleet. With one slot, the fleet would be
 * fully busy, and surge would raise the prices (CONTRACT 4).
 */
const slots = 4;

/**
 * Starts a node that takes only applications to the demo employer. Runs the browser in the first of
 * the `ways` that works. Throws StartError if none works.
 */
export async function startBrowserNode(place: BrowserNodePlace): Promise<BrowserNode> {
  const { browser, employerPort, logsDir, onLine } = place;
  const log = openLogFile(logsDir, 'browser-node');
  const command = nodeAgentCommand({ ...place, name: 'browser node' });
  const start = ({ prefix, args }: Way) =>
    startServiceProcess({
      ...command,
      prefix,
      args: [
        '--executor=browser',
        `--browser=${browser}`,
        `--slots=${slots}`,
        `--only-host=${employerHost}`,
        `--map-host=${employerHost}:80=127.0.0.1:${employerPort}`,
        ...args,
      ],
      onLine(line) {
        log.write(line);
        onLine(line);
      },
    });
  let reason: unknown;
  for (const way of ways()) {
    try {
      const node = await start(way);
      return {
        confinement: way.confinement,
        async stop() {
          await node.stop();
          log.close();
        },
      };
    } catch (error) {
      reason = error;
    }
  }
  log.close();
  throw new StartError(
    'The browser node did not start.',
    `Its log: ${path.relative(process.cwd(), log.file)}`,
    { cause: reason },
  );
}

/** Returns the ways to run the browser on this machine, the safest first. */
function ways(): Way[] {
  const prefix = unprivileged();
  const inSandbox = {
    prefix: prefix ?? [],
    args: [],
    confinement:
      prefix?.length === 0
        ? 'in its sandbox'
        : 'in its sandbox, and without the privileges of root',
  };
  // Without the sandbox the risk is small, because the browser opens only the demo employer's page.
  const without = {
    prefix: prefix ?? [],
    args: ['--no-browser-sandbox'],
    confinement:
      'without its sandbox, because the sandbox does not work here; the browser opens only the demo page',
  };
  // If `prefix` is undefined, no user namespace can be created. The sandbox needs one.
  return prefix === undefined ? [without] : [inSandbox, without];
}
