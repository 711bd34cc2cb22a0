import {
  createTenant,
  createWebhookReceiver,
  type ReceivedWebhook,
  svc,
  verifyWebhook,
  type WebhookAnswer,
} from '@svc/local';
import type { Random } from '../../simulation/random.ts';
import { recordWebhook } from '../history/record.ts';
import type { Signer } from '../load/http.ts';
import { textOf } from '../load/json.ts';
import { grant } from '../load/load.ts';
import type { Seen } from '../load/seen.ts';
import type { LoadTenant } from '../load/tenant.ts';
import type { World } from './types.ts';

export interface Population {
  readonly tenants: readonly LoadTenant[];
  /**
   * The tenant whose submissions probe whether the system is back. Its receiver never refuses an
   * event.
   */
  readonly probeTenant: LoadTenant;
  readonly operator: Signer;
  close(): Promise<void>;
}

const richCredits = 50_000_000;
const signupCredits = 10_000;
const poorCredits = 900;
const wantedLimit = 100_000;
const names = ['Ada', 'Ben', 'Cem', 'Dot'];

export async function populate(world: World, random: Random): Promise<Population> {
  const operatorRecord = await svc(['operator', 'create', '--name', 'faults'], world.env);
  const record = new Map<string, unknown>(Object.entries(operatorRecord ?? {}));
  const operator: Signer = {
    header: 'X-SVC-Operator',
    id: textOf(record.get('operatorId')) ?? '',
    secret: textOf(record.get('operatorSecret')) ?? '',
  };
  const failing = { random, patience: new Map<string, number>() };
  const tenants = await Promise.all([
    ...names.map((name) => signUp(world, name, failing)),
    signUp(world, 'Eve, without a URL', undefined),
    createPoor(world, failing),
  ]);
  const probeTenant = await signUp(world, 'Probe', 'never');
  for (const tenant of [...tenants, probeTenant]) {
    if (!tenant.isPoor)
      await grant({ ...world, operator }, tenant, `opening-${tenant.name}`, richCredits);
  }
  await world.pool.query(
    `UPDATE tenants SET rate_limit_per_second = ${wantedLimit}, rate_limit_burst = ${wantedLimit}`,
  );
  // Tenants from signup have a limit of webhook attempts per hour, which is too low for a long run.
  await world.pool.query('DELETE FROM webhook_caps');
  const receivers = [...tenants, probeTenant].flatMap(({ receiver }) => receiver ?? []);
  return {
    tenants,
    probeTenant,
    operator,
    async close() {
      await Promise.all(receivers.map((receiver) => receiver.close()));
    },
  };
}

type Failing = { readonly random: Random; readonly patience: Map<string, number> };

async function openReceiver(world: World, name: string, failing: Failing | 'never') {
  const receiver = await createWebhookReceiver();
  const { tenantsAddress } = world.hosts;
  const target = () => ({ port: receiver.port });
  const proxy = await world.openProxy(`webhooks - ${name}`, target, tenantsAddress);
  const judge = (webhook: ReceivedWebhook): WebhookAnswer =>
    failing === 'never' ? { status: 204 } : fail(failing, webhook);
  const url = `http://${tenantsAddress}:${proxy.port}/`;
  const listen = ({ tenantId, webhookSecret }: LoadTenant): void =>
    receiver.answerWith((webhook) => {
      const at = { tenant: tenantId, url: new URL(webhook.path, url).href };
      recordWebhook(world.recorder, at, webhook);
      verify(world.seen, webhook, webhookSecret);
      return judge(webhook);
    });
  return { receiver, url, listen };
}

function verify(seen: Seen, webhook: ReceivedWebhook, secret: string): void {
  try {
    verifyWebhook(webhook, secret);
  } catch (error) {
    const why = error instanceof Error ? error.message : 'unknown';
    seen.complain(webhook.deliveryId, `came with a signature that does not verify: ${why}`);
  }
}

/**
 * The answer to a webhook. One delivery in five is refused one, two or three times, and then
 * accepted. The other deliveries are accepted at once.
 */
function fail({ random, patience }: Failing, { deliveryId }: ReceivedWebhook): WebhookAnswer {
  const left = patience.get(deliveryId) ?? (random.chance(0.2) ? 1 + random.nat(3) : 0);
  patience.set(deliveryId, Math.max(0, left - 1));
  if (left === 0) return { status: 204 };
  return random.pick<WebhookAnswer>([{ status: 500 }, { status: 503 }, 'cut']) ?? 'cut';
}

async function signUp(
  world: World,
  name: string,
  failing: Failing | 'never' | undefined,
): Promise<LoadTenant> {
  const opened = failing === undefined ? undefined : await openReceiver(world, name, failing);
  const answer = await world.http.ask(world.gatewayUrls[0] ?? '', {
    method: 'POST',
    target: '/signup',
    body: JSON.stringify({ name, ...(opened === undefined ? {} : { webhookUrl: opened.url }) }),
  });
  if (answer?.status !== 201) {
    const got = answer === undefined ? 'no answer' : `${answer.status} ${answer.code}`;
    throw new Error(`the signup got ${got}, not 201`);
  }
  const { tenantId, hmacSecret, webhookSecret } = answer.body;
  const tenant = loadTenant(name, {
    tenantId: textOf(tenantId) ?? '',
    hmacSecret: textOf(hmacSecret) ?? '',
    webhookSecret: textOf(webhookSecret) ?? '',
  });
  opened?.listen(tenant);
  noteOpening(world, tenant, signupCredits);
  return { ...tenant, receiver: opened?.receiver, webhookUrl: opened?.url };
}

async function createPoor(world: World, failing: Failing): Promise<LoadTenant> {
  const name = 'Flo, with hardly any credit';
  const opened = await openReceiver(world, name, failing);
  const beginMs = world.recorder.nowMs();
  const credentials = await createTenant(
    { name, webhookUrl: opened.url, grantCredits: poorCredits },
    world.env,
  );
  const at = { beginMs, endMs: world.recorder.nowMs() };
  world.recorder.add({ kind: 'url', tenant: credentials.tenantId, url: opened.url, ...at });
  const tenant = { ...loadTenant(name, credentials), isPoor: true };
  opened.listen(tenant);
  noteOpening(world, tenant, poorCredits);
  return { ...tenant, receiver: opened.receiver, webhookUrl: opened.url };
}

function loadTenant(
  name: string,
  {
    tenantId,
    hmacSecret,
    webhookSecret,
  }: { tenantId: string; hmacSecret: string; webhookSecret: string },
): LoadTenant {
  const signer: Signer = { header: 'X-SVC-Tenant', id: tenantId, secret: hmacSecret };
  return {
    name,
    tenantId,
    signer,
    webhookSecret,
    receiver: undefined,
    webhookUrl: undefined,
    isPoor: false,
  };
}

function noteOpening({ seen }: World, tenant: LoadTenant, credits: number): void {
  seen.grants.push({ tenant, reference: `opening of ${tenant.name}`, credits, isAnswered: true });
}
