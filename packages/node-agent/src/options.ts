import { homedir } from 'node:os';
import path from 'node:path';
import { slotsPerNodeMax } from '@svc/contracts';
import { runLimitMs } from '@svc/domain';
import { Command, InvalidArgumentError, Option } from 'commander';

export interface NodeOptions {
  readonly link: string;
  readonly id: string;
  readonly secret: string;
  readonly slots: number;
  readonly stateDir: string;
  readonly drainSeconds: number;
}

/** The longest run limit, so that a drain can finish every run. */
const drainSecondsDefault = runLimitMs.standard / 1_000;

function wholeNumber(max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^[0-9]+$/.test(text) && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number up to ${max}.`);
  };
}

function linkAddress(text: string): string {
  if (/^wss?:\/\//i.test(text) && URL.canParse(text)) return text;
  throw new InvalidArgumentError('It must be an address like wss://host:port.');
}

/** True if the link is plain `ws` to another machine, so that others could read it. */
function isPlainBeyondLoopback(link: string): boolean {
  const { protocol, hostname } = new URL(link);
  if (protocol !== 'ws:') return false;
  return !(hostname === 'localhost' || hostname === '[::1]' || /^127\.[\d.]+$/.test(hostname));
}

function nodeId(text: string): string {
  if (/^nod_[0-9a-z]{26}$/.test(text)) return text;
  throw new InvalidArgumentError('It must be the nodeId that `svc node create` printed.');
}

/** One directory per node, below the user's state directory (XDG_STATE_HOME). */
function defaultStateDir(id: string): string {
  const base = process.env['XDG_STATE_HOME'] ?? path.join(homedir(), '.local', 'state');
  return path.join(base, 'svc-node', id);
}

/**
 * Reads the flags, or the environment variable of each missing flag. If they are invalid, prints
 * the reason and exits.
 */
export function readOptions(argv: readonly string[]): NodeOptions {
  const command = new Command('svc-node')
    .description('Runs jobs of the submission service on this machine.')
    .addOption(
      new Option('--link <url>', 'the address of the service')
        .env('SVC_NODE_LINK')
        .argParser(linkAddress)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('--id <nodeId>', 'the id of this node')
        .env('SVC_NODE_ID')
        .argParser(nodeId)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option(
        '--secret <nodeSecret>',
        'its secret; use the environment variable, because other users can see flags',
      )
        .env('SVC_NODE_SECRET')
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('--slots <number>', 'how many submissions to run at once')
        .env('SVC_NODE_SLOTS')
        .argParser(wholeNumber(slotsPerNodeMax))
        .default(1),
    )
    .addOption(
      new Option('--state-dir <directory>', 'where to keep unfinished submissions')
        .env('SVC_NODE_STATE_DIR')
        .default('', 'svc-node/<nodeId> below the state directory of the user'),
    )
    .addOption(
      new Option('--drain-seconds <number>', 'how long to finish running submissions after SIGTERM')
        .env('SVC_NODE_DRAIN_SECONDS')
        .argParser(wholeNumber(24 * 3600))
        .default(drainSecondsDefault),
    );
  command.addOption(
    new Option('--insecure', 'connect without TLS to a host other than this one').default(false),
  );
  const options = command.parse(argv).opts<NodeOptions & { insecure: boolean }>();
  if (!options.insecure && isPlainBeyondLoopback(options.link)) {
    command.error(
      'error: The link is not encrypted. Use wss://, or --insecure if nobody else can read it.',
    );
  }
  const { insecure: _, ...rest } = options;
  const stateDir = options.stateDir === '' ? defaultStateDir(options.id) : options.stateDir;
  return { ...rest, stateDir };
}
