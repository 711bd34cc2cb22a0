import type { Random } from '../../simulation/random.ts';
import { isDecisive } from './http.ts';
import { gatewayOf, type LoadWorld } from './load-world.ts';

/**
 * Sends at most one random request, and does not repeat it. At the end of `runFaults`,
 * `checkHistory` compares the answers with each other and with the ledger.
 */
export async function observe(world: LoadWorld, number: number, random: Random): Promise<void> {
  const tenant = random.pick(world.tenants);
  if (tenant === undefined) return;
  const { signer, webhookUrl } = tenant;
  const gateway = gatewayOf(world, random.nat(8));
  const get = async (target: string): Promise<void> => {
    world.seen.count('observe', await world.http.ask(gateway, { method: 'GET', target, signer }));
  };
  const die = random.nat(10);
  if (die < 4) return get('/v1/submissions?limit=20');
  if (die < 7) return get('/v1/credits/balance');
  if (die < 8) return get('/v1/credits/transactions?limit=20');
  if (die < 9) return postAnotherBody(world, gateway, random);
  if (webhookUrl === undefined) return;
  const body = JSON.stringify({ webhookUrl: `${webhookUrl}${number}` });
  const question = { method: 'PATCH', target: '/v1/settings', body, signer } as const;
  world.seen.count('move endpoint', await world.http.ask(gateway, question));
}

/**
 * Posts the key of a created submission with a different body. A decisive answer (`isDecisive`)
 * must be a conflict (CONTRACT 3).
 */
async function postAnotherBody(world: LoadWorld, gateway: string, random: Random): Promise<void> {
  const recent = [...world.seen.applications.values()].slice(-100);
  const wanted = random.pick(recent.filter(({ created }) => created !== undefined));
  if (wanted === undefined) return;
  const body = wanted.body.replace('Ana Pérez', 'Ana Pérez the younger');
  const { signer } = wanted.tenant;
  const question = { method: 'POST', target: '/v1/submissions', body, signer } as const;
  const answer = await world.http.ask(gateway, question);
  world.seen.count('create with another body', answer);
  if (isDecisive(answer) && answer.code !== 'idempotency_key_conflict')
    world.seen.complain(
      wanted.key,
      `the same key with another body was answered ${answer.status}, not idempotency_key_conflict`,
    );
}
