import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { cpuSeconds, residentMib } from './load/cpu.ts';
import { createNodes, openStack, type Stack } from './systems/stack.ts';

/**
 * `pnpm bench:fleet [--nodes 5000] [--seconds 60]`: the memory and CPU of one dispatcher with many
 * idle nodes. The nodes run in a separate process.
 */
const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '5000' },
    seconds: { type: 'string', default: '60' },
  },
});
const count = Number(values.nodes);
const seconds = Number(values.seconds);
/**
 * The measurement begins this long after the last link has opened. So it leaves out the CPU time of
 * opening the links.
 */
const settlingMs = 35_000;

const dir = mkdtempSync(path.join(os.tmpdir(), 'svc-bench-fleet-'));
// All nodes connect from one address.
const env = { ADDRESS_CONNECTIONS_MAX: '100000' };
const stack = await openStack({ dir, durable: false, env });
try {
  await bench(stack);
} finally {
  await stack.close();
  rmSync(dir, { recursive: true, force: true });
}

async function bench(on: Stack): Promise<void> {
  const dispatcher = await on.start('dispatcher');
  const { pid } = dispatcher;
  const cpuUsed = () => cpuSeconds({ dispatcher: [pid] })['dispatcher'] ?? 0;
  const aloneMib = residentMib(pid);
  const file = path.join(dir, 'nodes.json');
  writeFileSync(file, JSON.stringify(await createNodes(on, count, [dispatcher.ready.port ?? 0])));
  const nodes = fork(path.join(import.meta.dirname, 'fleet-nodes.ts'), [file]);
  const startedMs = performance.now();
  let closed = 0;
  await new Promise<void>((resolve) => {
    nodes.on('message', (message: { linked?: number; closed?: number }) => {
      if (message.closed !== undefined) closed += 1;
      if (message.linked === count) resolve();
    });
  });
  const linkedSeconds = (performance.now() - startedMs) / 1_000;
  await sleep(settlingMs);
  const cpuBefore = cpuUsed();
  const measuredMs = performance.now();
  await sleep(seconds * 1_000);
  const core = ((cpuUsed() - cpuBefore) / ((performance.now() - measuredMs) / 1_000)) * 100;
  process.stdout.write(
    `${count} nodes linked in ${linkedSeconds.toFixed(1)} s, ${closed} links lost; ` +
      `dispatcher: ${residentMib(pid).toFixed(0)} MiB resident (${aloneMib.toFixed(0)} MiB without nodes), ` +
      `${core.toFixed(1)} % of a core over ${seconds} s\n`,
  );
  nodes.disconnect();
  await once(nodes, 'exit');
}
