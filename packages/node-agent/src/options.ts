import { homedir } from 'node:os';
import path from 'node:path';
import { slotsPerNodeMax } from '@svc/contracts';
import { runLimitMs } from '@svc/domain';
import { Command, Option } from 'commander';
import type { HostMap } from './executors/browser/egress/destination.ts';
import {
  hostMapping,
  hostName,
  isPlainBeyondLoopback,
  notEncrypted,
  linkAddress,
  nodeId,
  wholeNumber,
} from './option-values.ts';

type ExecutorName = 'browser' | 'simulated';

/**
 * The options of `run` and `doctor`. `link`, `id` and `secret` may be missing, which `doctor`
 * reports as a finding.
 */
export interface NodeOptions {
  readonly link: string | undefined;
  readonly id: string | undefined;
  readonly secret: string | undefined;
  readonly slots: number;
  readonly stateDir: string;
  readonly drainSeconds: number;
  readonly executor: ExecutorName;
  /** The file of the browser. If undefined, the agent looks for a browser. */
  readonly browser: string | undefined;
  readonly isSandboxed: boolean;
  /** True if the link to another machine may be without TLS. */
  readonly isInsecure: boolean;
  readonly hostMap: HostMap;
  /** The node takes only submissions for these hosts. An empty list allows all hosts. */
  readonly onlyHosts: readonly string[];
  readonly debugDir: string | undefined;
  readonly searchPath: string;
}

export interface RunOptions extends NodeOptions {
  readonly link: string;
  readonly id: string;
  readonly secret: string;
}

export type NodeCommand =
  | { readonly kind: 'run'; readonly options: RunOptions }
  | { readonly kind: 'doctor'; readonly options: NodeOptions };

/** The longest run limit of all tiers, so a drain has enough time for each run. */
const drainSecondsDefault = runLimitMs.standard / 1_000;
const executors: readonly ExecutorName[] = ['browser', 'simulated'];

interface Parsed {
  readonly link?: string;
  readonly id?: string;
  readonly secret?: string;
  readonly slots: number;
  readonly stateDir?: string;
  readonly drainSeconds: number;
  readonly executor?: ExecutorName;
  readonly browser?: string;
  readonly browserSandbox: boolean;
  readonly mapHost?: HostMap;
  readonly onlyHost?: readonly string[];
  readonly debugDir?: string;
  readonly insecure: boolean;
}

/**
 * The directory of the node `id`, inside the user's state directory. Without `id`, the directory
 * that contains the directories of all nodes.
 */
function defaultStateDir(id: string | undefined): string {
  const base = process.env['XDG_STATE_HOME'] || path.join(homedir(), '.local', 'state');
  return path.join(base, 'svc-node', id ?? '');
}

/** Returns `simulated` for a `ws:` link, because only a sandbox service accepts such a link. */
function defaultExecutor(link: string | undefined): ExecutorName {
  return link !== undefined && new URL(link).protocol === 'ws:' ? 'simulated' : 'browser';
}

const linkOptions = [
  new Option('--link <url>', 'the address that the operator gave, such as wss://nodes.example.com')
    .env('SVC_NODE_LINK')
    .argParser(linkAddress),
  new Option('--id <nodeId>', 'the id of this node').env('SVC_NODE_ID').argParser(nodeId),
  new Option(
    '--secret <nodeSecret>',
    'the secret of this node; set SVC_NODE_SECRET instead, because other users can see flags',
  ).env('SVC_NODE_SECRET'),
  new Option('--insecure', 'allow a link without TLS to another machine').default(false),
];

const runOptions = [
  new Option('--slots <number>', 'how many submissions to run at once')
    .env('SVC_NODE_SLOTS')
    .argParser(wholeNumber(slotsPerNodeMax))
    .default(1),
  new Option(
    '--state-dir <directory>',
    'where to keep the state of the node, such as unfinished submissions (default: svc-node/<nodeId> in $XDG_STATE_HOME or ~/.local/state)',
  ).env('SVC_NODE_STATE_DIR'),
  new Option(
    '--drain-seconds <number>',
    'how many seconds to wait for running submissions after SIGTERM or SIGINT',
  )
    .env('SVC_NODE_DRAIN_SECONDS')
    .argParser(wholeNumber(24 * 3600))
    .default(drainSecondsDefault),
];

const browserOptions = [
  new Option(
    '--executor <name>',
    '"browser" fills in real forms; "simulated" only pretends, for a sandbox service (default: browser; simulated for a link without TLS)',
  )
    .env('SVC_NODE_EXECUTOR')
    .choices(executors),
  new Option(
    '--browser <file>',
    'the file of the browser (default: the first of chromium-headless-shell, chromium, google-chrome and chrome on the PATH; on macOS otherwise Chromium or Google Chrome in /Applications)',
  ).env('SVC_NODE_BROWSER'),
  new Option(
    '--no-browser-sandbox',
    'run the browser without its sandbox, and allow svc-node to run as root; a page can then attack this machine',
  ).env('SVC_NODE_NO_BROWSER_SANDBOX'),
  new Option(
    '--only-host <host>',
    'apply only at this host and decline other submissions (repeatable)',
  )
    .env('SVC_NODE_ONLY_HOST')
    .argParser(hostName),
  new Option(
    '--map-host <name:port=address:port>',
    'connect to address:port instead of name:port (repeatable, only for a sandbox service)',
  )
    .env('SVC_NODE_MAP_HOST')
    .argParser(hostMapping),
  new Option(
    '--debug-dir <directory>',
    'keep screenshots of forms, with personal data, in this directory (only for a sandbox service)',
  ).env('SVC_NODE_DEBUG_DIR'),
];

/** The exit status if an option, a variable or a directory is wrong (CONTRACT 9). */
export const wrongConfigurationStatus = 2;

function createCommand(): Command {
  const command = new Command('svc-node')
    .description('Runs jobs of the submission service on this machine.')
    .usage('[options] [doctor]')
    .allowExcessArguments(false)
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : wrongConfigurationStatus));
  for (const option of [...linkOptions, ...runOptions, ...browserOptions]) {
    command.addOption(option);
  }
  return command;
}

function optionsOf(parsed: Parsed): NodeOptions {
  const { link, id, secret, slots, drainSeconds, browser, debugDir } = parsed;
  return {
    link,
    id,
    secret,
    slots,
    drainSeconds,
    browser,
    debugDir,
    // An empty `--state-dir` or SVC_NODE_STATE_DIR counts as missing.
    stateDir: parsed.stateDir || defaultStateDir(id),
    executor: parsed.executor ?? defaultExecutor(link),
    isSandboxed: parsed.browserSandbox,
    hostMap: parsed.mapHost ?? new Map(),
    onlyHosts: parsed.onlyHost ?? [],
    isInsecure: parsed.insecure,
    searchPath: process.env['PATH'] ?? '',
  };
}

function checkRun(command: Command, options: NodeOptions): RunOptions {
  const { link, id, secret, isInsecure } = options;
  const missing = (name: string): never =>
    command.error(`error: ${name} is missing. Give the option, or set its variable.`);
  if (link === undefined) return missing('--link (SVC_NODE_LINK)');
  if (id === undefined) return missing('--id (SVC_NODE_ID)');
  if (secret === undefined || secret === '') return missing('--secret (SVC_NODE_SECRET)');
  if (!isInsecure && isPlainBeyondLoopback(link)) command.error(`error: ${notEncrypted}`);
  return { ...options, link, id, secret };
}

/**
 * Reads the command line. If the command or an option is invalid, or if `run` lacks an option that
 * it needs, prints the reason and exits with 2.
 */
export function readCommand(argv: readonly string[]): NodeCommand {
  const command = createCommand();
  const chosen: { kind: NodeCommand['kind'] } = { kind: 'run' };
  command.action(() => {});
  command
    .command('doctor')
    .description(
      'check link, secret, clock and disk; for real forms also browser, sandbox and egress',
    )
    .action(() => {
      chosen.kind = 'doctor';
    });
  command.parse([...argv]);
  const parsed = command.opts<Parsed>();
  const options = optionsOf(parsed);
  if (chosen.kind === 'doctor') return { kind: 'doctor', options };
  return { kind: 'run', options: checkRun(command, options) };
}
