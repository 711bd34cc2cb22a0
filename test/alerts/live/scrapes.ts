import { setTimeout as sleep } from 'node:timers/promises';
import { createWebhookReceiver } from '@svc/local';
import { median } from '../../bench/quantile.ts';
import { textOf } from '../../faults/load/json.ts';
import { gatewayOf } from '../../faults/load/load-world.ts';
import { application } from '../../faults/load/load.ts';
import type { World } from '../../faults/world/types.ts';

/** The medians of repeated scrapes of one process. */
export interface ScrapeCost {
  readonly name: string;
  readonly wallMs: number;
  /**
   * The rise of the CPU time of the process from one scrape to the next. It includes other work of
   * the process.
   */
  readonly cpuMs: number;
  readonly bytes: number;
}

export const scrapeMsMax = 50;
const scrapes = 20;
const atOnce = 8;
const webhooksBoundMs = 60_000;

/**
 * Signs up tenants that post one submission each. Resolves when each has got a webhook. Rejects if
 * a submission is refused or the webhooks take too long.
 */
export async function addActiveTenants(world: World, count: number): Promise<void> {
  const receiver = await createWebhookReceiver();
  let next = 0;
  const work = async (): Promise<void> => {
    for (let number = next++; number < count; number = next++) {
      await submitOnce(world, number, `${receiver.url}${number}`);
    }
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, work));
    const startedMs = performance.now();
    const notified = () => new Set(receiver.received.map((webhook) => webhook.path)).size;
    while (notified() < count) {
      if (performance.now() - startedMs > webhooksBoundMs) {
        throw new Error(`only ${notified()} of ${count} tenants got a webhook`);
      }
      await sleep(100);
    }
  } finally {
    await receiver.close();
  }
}

async function submitOnce(world: World, number: number, webhookUrl: string): Promise<void> {
  const { http } = world;
  const gateway = gatewayOf(world, number);
  const name = `Tenant ${number}`;
  const signedUp = await http.ask(gateway, {
    method: 'POST',
    target: '/signup',
    body: JSON.stringify({ name, webhookUrl }),
  });
  const id = textOf(signedUp?.body['tenantId']) ?? '';
  const secret = textOf(signedUp?.body['hmacSecret']) ?? '';
  const { body } = applicationOf(name, id, secret);
  const created = await http.ask(gateway, {
    method: 'POST',
    target: '/v1/submissions',
    body,
    signer: { header: 'X-SVC-Tenant', id, secret },
  });
  if (created?.status !== 201)
    throw new Error(
      `the submission of ${name} got ${created === undefined ? 'no answer' : `the answer ${created.status} ${created.code}`}`,
    );
}

function applicationOf(name: string, tenantId: string, secret: string) {
  const signer = { header: 'X-SVC-Tenant', id: tenantId, secret } as const;
  const tenant = {
    name,
    tenantId,
    signer,
    webhookSecret: '',
    receiver: undefined,
    webhookUrl: undefined,
    isPoor: false,
  };
  return application(tenant, 'scraped', 'faults.quick');
}

export async function measureScrapes({ services }: World): Promise<ScrapeCost[]> {
  const costs: ScrapeCost[] = [];
  for (const { process } of services) {
    const url = `http://127.0.0.1:${process.ready.adminPort}/metrics`;
    const taken: { wallMs: number; cpuMs: number; bytes: number }[] = [];
    let cpuBefore = Number.NaN;
    for (let scrape = 0; scrape <= scrapes; scrape += 1) {
      const startedMs = performance.now();
      const text = await (await fetch(url)).text();
      const wallMs = performance.now() - startedMs;
      const [, cpu] = /^process_cpu_seconds_total\S* (\S+)/m.exec(text) ?? [];
      const cpuMs = (Number(cpu) - cpuBefore) * 1_000;
      cpuBefore = Number(cpu);
      // The first scrape is a warm-up, which is not counted.
      if (scrape > 0) taken.push({ wallMs, cpuMs, bytes: Buffer.byteLength(text) });
    }
    const of = (member: 'wallMs' | 'cpuMs' | 'bytes') => median(taken.map((one) => one[member]));
    costs.push({
      name: process.name,
      wallMs: of('wallMs'),
      cpuMs: of('cpuMs'),
      bytes: of('bytes'),
    });
  }
  return costs;
}
