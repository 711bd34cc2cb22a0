import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { createClient } from '@svc/client';
import { runBrowserDemo } from './browser-demo.ts';
import { findChromium } from './chromium-binary.ts';
import type { Closer } from './closer.ts';
import { simulatedApplication } from './demo-application.ts';
import { type DemoEvents, polledEvents, pushedEvents } from './demo-events.ts';
import { type DemoWorld, prepareDemoWorld } from './demo-tenant.ts';
import { runDemo } from './demo.ts';
import { takeLauncherLock } from './launcher-lock.ts';
import { masterKey } from './master-key.ts';
import { migrate } from './migrate.ts';
import { createNodeWatch, type NodeWatch } from './node-watch.ts';
import type { Progress } from './progress.ts';
import { startServers } from './servers.ts';
import { serviceEnvironment, type StackAddresses } from './service-environment.ts';
import { type RunningServices, startServices } from './services.ts';
import { assertPortsFree, type Settings } from './settings.ts';
import { startSimulatedNodes } from './simulated-nodes.ts';
import { type SolanaChain, startSolanaChain } from './solana-chain.ts';
import { runSolanaDemo } from './solana-demo.ts';
import { removeStackFile, writeStackFile } from './stack-file.ts';
import { summary } from './summary.ts';
import type { Supervision } from './supervise.ts';

export interface Launch {
  readonly settings: Settings;
  /**
   * The base environment of the services. `stackEnvironment` and the Solana demo override some of
   * its variables.
   */
  readonly env: NodeJS.ProcessEnv;
  readonly dir: string;
  readonly progress: Progress;
  readonly closer: Closer;
  readonly giveUp: (error: unknown) => void;
  /** True if the services and the simulated nodes restart when their code changes. */
  readonly isWatching: boolean;
}

/**
 * Starts the embedded stack and, if the settings ask for it, shows the life of one submission
 * (CONTRACT 9). Throws StartError for a failure whose cause the user can fix.
 */
export async function launch(launched: Launch): Promise<void> {
  const { settings, dir, progress, closer } = launched;
  mkdirSync(dir, { recursive: true });
  await closer.add(await takeLauncherLock(dir));
  await assertPortsFree(settings);
  const servers = await progress.step('Postgres and Redis', (say) =>
    startServers(settings, dir, closer, say),
  );
  const addresses = { ...servers, masterKey: masterKey(dir, launched.env) };
  const chain = await startChain(launched);
  const env = { ...stackEnvironment(launched, addresses), ...chain?.env };
  await progress.step('Schema', (say) =>
    migrate({
      ownerUrl: servers.migrationDatabaseUrl,
      isAlone: settings.databaseUrl === undefined,
      env,
      say,
    }),
  );
  const { services, world } = await startStack(launched, env);
  writeStackFile(dir, { pid: process.pid, ...addresses, ...services });
  await closer.add(async () => removeStackFile(dir));
  const nodeWatch = createNodeWatch();
  const events = await openEvents(services, world);
  await closer.add(() => events.close());
  const demo = { gatewayUrl: services.gatewayUrl, world, events, nodeWatch, env, progress };
  const place = { link: services.nodeLinkUrl, dir, logsDir: logsDirIn(dir), closer };
  const isWanted = isDemoWanted(settings);
  const employerUrl = isWanted ? await runBrowserDemo(demo, place) : undefined;
  await startNodes(launched, services, world, nodeWatch);
  if (isWanted && employerUrl === undefined) {
    await runDemo({ ...demo, application: simulatedApplication });
  }
  if (chain !== undefined) await runSolanaDemo(demo, chain);
  progress.print(summary(services, world, events, employerUrl, logsDirIn(dir)));
  showFurtherEvents(events, progress);
}

async function startChain({
  settings,
  progress,
  closer,
}: Launch): Promise<SolanaChain | undefined> {
  if (!settings.isSolanaDemoWanted) return undefined;
  return progress.step('A local Solana chain, with a wallet', async (say) => {
    const chain = await startSolanaChain(closer);
    say(`RPC server: ${chain.env['SOLANA_RPC_URL']}`);
    return chain;
  });
}

/**
 * Without simulated nodes no demo submission is sent, because the user then links their own nodes
 * and sends their own submissions.
 */
function isDemoWanted({ isDemoWanted: isWanted, simulatedNodes }: Settings): boolean {
  return isWanted && simulatedNodes > 0;
}

function stackEnvironment({ env, settings }: Launch, addresses: StackAddresses): NodeJS.ProcessEnv {
  const { DATABASE_URL, REDIS_URL, SVC_MASTER_KEY, ...defaults } = serviceEnvironment(addresses);
  return {
    ...defaults,
    ...env,
    // The services get the master key itself, not the path of its file. They do not get
    // `MIGRATION_DATABASE_URL`, which contains the password of the tables' owner.
    MIGRATION_DATABASE_URL: '',
    SVC_MASTER_KEY_FILE: '',
    DATABASE_URL,
    REDIS_URL,
    SVC_MASTER_KEY,
    SVC_SIMULATED_NODES: `${settings.simulatedNodes}`,
    GATEWAY_PORT: `${settings.gatewayPort}`,
    NODE_LINK_PORT: `${settings.nodeLinkPort}`,
  };
}

function logsDirIn(dir: string): string {
  return path.join(dir, 'logs');
}

function supervision({ dir, closer, progress, giveUp, isWatching }: Launch): Supervision {
  return { logsDir: logsDirIn(dir), closer, report: progress.print, giveUp, isWatching };
}

/**
 * Starts the services and prepares the demo tenant at the same time, because neither depends on the
 * other.
 */
async function startStack(
  launched: Launch,
  env: NodeJS.ProcessEnv,
): Promise<{ services: RunningServices; world: DemoWorld }> {
  const { settings, dir, progress, closer } = launched;
  return progress.step('Four services, a demo tenant', async (say) => {
    const [services, world] = await Promise.all([
      startServices(env, supervision(launched), say),
      prepareDemoWorld({
        dir,
        givenDatabaseUrl: settings.databaseUrl,
        simulatedNodes: settings.simulatedNodes,
        needsBrowserNode: isDemoWanted(settings) && findChromium() !== undefined,
        env,
        closer,
        say,
      }),
    ]);
    return { services, world };
  });
}

async function startNodes(
  launched: Launch,
  services: RunningServices,
  world: DemoWorld,
  nodeWatch: NodeWatch,
): Promise<void> {
  const nodes = world.nodes.slice(0, launched.settings.simulatedNodes);
  if (nodes.length === 0) return;
  await launched.progress.step(`${nodes.length} simulated nodes`, async (say) => {
    const fleet = {
      link: services.nodeLinkUrl,
      nodes,
      stateDir: path.join(launched.dir, 'nodes'),
      onLine: nodeWatch.readLine,
    };
    await startSimulatedNodes(fleet, supervision(launched));
    say(nodes.map(({ nodeId }) => nodeId).join(', '));
  });
}

async function openEvents(
  { gatewayUrl }: RunningServices,
  { receiver, tenant }: DemoWorld,
): Promise<DemoEvents> {
  const { tenantId, hmacSecret, webhookSecret } = tenant;
  if (receiver !== undefined) return pushedEvents(receiver, webhookSecret);
  return polledEvents(createClient({ baseUrl: gatewayUrl, tenantId, secret: hmacSecret }));
}

function showFurtherEvents(events: DemoEvents, { print }: Progress): void {
  events.follow(({ type, data, verdict }) => {
    const { submissionId } = data;
    const about = typeof submissionId === 'string' ? submissionId : '';
    print(`  event ${type} ${about} (${verdict})`);
  });
}
