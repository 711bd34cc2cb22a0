import { generateKeyPairSigner } from '@solana/kit';
import { createLogger, loadConfig } from '@svc/runtime';
import { checkGenesis, mainnetGenesisHash } from '@svc/solana';
import { silent } from '@svc/startup/fixture';
import { waitUntil } from '@svc/testkit';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { settlementConfig } from '../../services/settlement/src/config.ts';
import { run } from '../../services/settlement/src/run.ts';
import { token2022Program } from './chain/local-chain.ts';
import { openSolanaWorld, type SolanaWorld } from './world.ts';

/**
 * When the settlement service starts, it checks the configuration of the rail. If a setting is
 * wrong, the start fails. Otherwise the service runs the watcher (CONTRACT 8).
 */

let world: SolanaWorld;
const running: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  world = await openSolanaWorld();
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.close()));
});
afterAll(() => world.closeAll());

async function start(env: NodeJS.ProcessEnv = {}, logger = silent): Promise<string> {
  const common = Object.fromEntries(
    Object.entries(world.config).map(([name, value]) => [name, String(value)]),
  );
  const config = loadConfig(settlementConfig, {
    ...common,
    SOLANA_RAIL_ENABLED: 'true',
    SOLANA_RPC_URL: world.rpcServer.url,
    SOLANA_RECIPIENT: world.recipient,
    SOLANA_USDC_MINT: world.mint,
    ...env,
  });
  const service = await run(config, { logger });
  running.push(service);
  return `http://127.0.0.1:${service.adminPort}`;
}

test('each term that does not hold refuses the start with status 2 and names its variable', async () => {
  const stranger = (await generateKeyPairSigner()).address;
  const authority = stranger;
  const [wrongDecimals, wrongProgram] = [
    (await generateKeyPairSigner()).address,
    (await generateKeyPairSigner()).address,
  ];
  world.chain.createMint(wrongDecimals, authority, 9);
  world.chain.createMint(wrongProgram, authority, 6, token2022Program);
  const refusals: readonly (readonly [NodeJS.ProcessEnv, RegExp])[] = [
    [{ SOLANA_USDC_MINT: stranger }, /^SOLANA_USDC_MINT is not the address of an account/],
    [{ SOLANA_USDC_MINT: wrongDecimals }, /^SOLANA_USDC_MINT has 9 decimals/],
    [
      { SOLANA_USDC_MINT: wrongProgram },
      /^SOLANA_USDC_MINT is not a mint of the SPL Token program/,
    ],
    [
      { SOLANA_RECIPIENT: world.tokenAccount },
      /^SOLANA_RECIPIENT is an account of the token program/,
    ],
    [{ SOLANA_RECIPIENT: stranger }, /^SOLANA_RECIPIENT has no associated token account/],
    [{ SOLANA_RPC_URL: '' }, /^SOLANA_RPC_URL is not set/],
    [{ SOLANA_RPC_URL: 'ftp://127.0.0.1' }, /^SOLANA_RPC_URL must be an http or https URL/],
    [{ SOLANA_RECIPIENT: 'wallet' }, /^SOLANA_RECIPIENT is not a Solana address/],
    // The digit 0 is not in Base58, so the text is never an address. With a digit of Base58 in its
    // place, the text could still be an address.
    [{ SOLANA_USDC_MINT: `${world.mint}0` }, /^SOLANA_USDC_MINT is not a Solana address/],
  ];
  for (const [env, sentence] of refusals) {
    const error = await start(env).catch((refusal: unknown) => refusal);
    expect(error).toMatchObject({ exitStatus: 2, message: expect.stringMatching(sentence) });
  }
  world.rpcServer.faults.genesisHash = mainnetGenesisHash;
  const error = await start().catch((refusal: unknown) => refusal);
  world.rpcServer.faults.genesisHash = 'local';
  expect(error).toMatchObject({
    exitStatus: 2,
    message: expect.stringContaining('SOLANA_RPC_URL'),
  });
});

test('production takes only a server of mainnet, and a sandbox any other', async () => {
  const verdicts = (['production', 'sandbox'] as const).map((environment) =>
    [mainnetGenesisHash, 'another'].map(async (hash) => {
      const rpc = { call: async () => ({ kind: 'answered', result: hash }) as const };
      const terms = { environment, recipient: world.recipient, mint: world.mint };
      return (await checkGenesis(rpc, terms)).kind;
    }),
  );
  expect(await Promise.all(verdicts.map((row) => Promise.all(row)))).toEqual([
    ['sound', 'refused'],
    ['refused', 'sound'],
  ]);
});

test('a payment is credited by the running service within 5 s, and logged', async () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const url = await start({}, createLogger({ service: 'settlement', level: 'info', destination }));
  const tenantId = await world.tenant(0);
  const intent = await world.intent(tenantId);
  const signature = await world.pay(5_000_000n, [intent.reference]);
  await waitUntil(async () => (await world.read(intent.reference)).status === 'confirmed', {
    timeoutMs: 5_000,
  });
  const line = await waitUntil(() => lines.find((text) => text.includes('credits were granted')));
  expect(JSON.parse(line)).toMatchObject({
    transaction: signature,
    reference: intent.reference,
  });
  const metrics = await (await fetch(`${url}/metrics`)).text();
  expect(metrics).toContain('svc_solana_payments_total{kind="granted"');
  expect(metrics).toContain('svc_solana_rpc_calls_total{outcome="answered"');
});

test('an RPC server that cannot be reached is no refusal, and the service is then not ready', async () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const logger = createLogger({ service: 'settlement', level: 'info', destination });
  const open = await world.intent(await world.tenant(0));
  const url = await start({ SOLANA_RPC_URL: 'http://127.0.0.1:9' }, logger);
  expect(lines.join('')).toContain('gave no usable answer; settlement tries again');
  const body = await waitUntil(async () => {
    const text = await (await fetch(`${url}/ready`)).text();
    return text.includes('RPC') ? text : undefined;
  });
  expect(JSON.parse(body)).toMatchObject({ status: 'not_ready' });
  expect((await world.read(open.reference)).status).toBe('pending');
});
