import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { serviceNames } from '@svc/local';

/** The environment with which a service writes a CPU profile into `dir` when it ends. */
export function profileEnvironment(dir: string): NodeJS.ProcessEnv {
  return { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${path.resolve(dir)}` };
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: {
    readonly functionName: string;
    readonly url: string;
    /** The first line has the number 0. */
    readonly lineNumber: number;
  };
  readonly children?: readonly number[];
}

interface Profile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const shown = 5;
const ownPath = /\/((?:services|packages)\/.*)$/;
const packagePath = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//;

/** Lists, for each service, the functions that used the most CPU. */
export function reportProfiles(dir: string): string {
  const busy = new Map<string, Map<string, number>>();
  for (const file of readdirSync(dir).filter((name) => name.endsWith('.cpuprofile'))) {
    const profile: Profile = JSON.parse(readFileSync(path.join(dir, file), 'utf8'));
    const service = serviceOf(profile);
    if (service === undefined) continue;
    const costs = busy.get(service) ?? new Map<string, number>();
    busy.set(service, costs);
    addCosts(costs, profile);
  }
  return [...busy].map(([service, costs]) => describe(service, costs)).join('\n');
}

function serviceOf({ nodes }: Profile): string | undefined {
  return serviceNames.find((service) =>
    nodes.some(({ callFrame }) => callFrame.url.endsWith(`/services/${service}/src/main.ts`)),
  );
}

function addCosts(costs: Map<string, number>, { nodes, samples, timeDeltas }: Profile): void {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap((node) => (node.children ?? []).map((id) => [id, node])));
  const names = new Map<number, string>();
  for (const [index, id] of samples.entries()) {
    const node = byId.get(id);
    if (node === undefined || node.callFrame.functionName === '(idle)') continue;
    const name = names.get(id) ?? nameOf(node, parents);
    names.set(id, name);
    costs.set(name, (costs.get(name) ?? 0) + (timeDeltas[index] ?? 0));
  }
}

/**
 * Names the innermost product function on the call stack and, if there is one, the innermost npm
 * package that it called.
 */
function nameOf(leaf: ProfileNode, parents: ReadonlyMap<number, ProfileNode>): string {
  let dependency: string | undefined;
  for (let node: ProfileNode | undefined = leaf; node !== undefined; node = parents.get(node.id)) {
    const { functionName, url, lineNumber } = node.callFrame;
    const inPackage = packagePath.exec(url)?.[1];
    dependency ??= inPackage;
    const own = inPackage === undefined ? ownPath.exec(url)?.[1] : undefined;
    if (own === undefined) continue;
    const place = `${functionName || '(anonymous)'} ${own}:${lineNumber + 1}`;
    return dependency === undefined ? place : `${place}, in ${dependency}`;
  }
  // Without a product function: the innermost npm package, or else the function of `leaf`.
  const { functionName, url } = leaf.callFrame;
  return dependency ?? `${functionName || '(anonymous)'} ${url}`.trim();
}

function describe(service: string, costs: ReadonlyMap<string, number>): string {
  const all = [...costs.values()].reduce((sum, micros) => sum + micros, 0);
  const costliest = [...costs].toSorted((one, other) => other[1] - one[1]).slice(0, shown);
  const lines = costliest.map(
    ([name, micros]) => `  ${((micros / all) * 100).toFixed(1).padStart(5)} %  ${name}`,
  );
  return [`${service}, ${(all / 1e6).toFixed(1)} s of CPU`, ...lines].join('\n');
}
