import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@svc/client';
import type { Demo } from './demo.ts';
import type { SolanaChain } from './solana-chain.ts';

const credits = 500;
/**
 * The demo makes its payment final after this time. On mainnet a payment is final after about 13 s.
 */
const finalityMs = 1_500;
const awaitSeconds = 30;

/**
 * Buys credits as a tenant would, with a purchase intent that a wallet on the local chain pays
 * (CONTRACT 8). Throws if the credits or the event do not arrive.
 */
export async function runSolanaDemo(
  {
    gatewayUrl,
    world,
    events,
    progress,
  }: Pick<Demo, 'gatewayUrl' | 'world' | 'events' | 'progress'>,
  chain: SolanaChain,
): Promise<void> {
  const { tenantId, hmacSecret } = world.tenant;
  const client = createClient({ baseUrl: gatewayUrl, tenantId, secret: hmacSecret });
  const before = await client.balance();
  const title = `POST /v1/credits/purchase-intents: ${credits} credits for USDC`;
  const intent = await progress.step(title, async (say) => {
    const created = await client.createPurchaseIntent({ credits });
    say(`pay ${created.amount} USDC until ${created.expiresAt}`);
    say(created.solanaPayUrl);
    say(`the page for the person who pays: ${gatewayUrl}/pay/${created.reference}`);
    return created;
  });
  const { reference } = intent;
  const signature = await progress.step('A wallet pays on the local chain', async (say) => {
    const sent = await chain.pay(intent.solanaPayUrl);
    say(`transaction ${sent}`);
    await delay(finalityMs);
    const { status } = await client.getPurchaseIntent(reference);
    say(`the payment is confirmed on the chain but not final, so the intent is still ${status}`);
    return sent;
  });
  await progress.step('The transaction is final', async (say) => {
    const startedMs = performance.now();
    chain.finalize();
    const paid = await client.awaitPurchaseIntent(reference, { timeoutSeconds: awaitSeconds });
    if (paid.signature !== signature)
      throw new Error(
        `the purchase intent ${reference} is ${paid.status}, and the transaction ${signature} did not pay it`,
      );
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
    say(
      `the intent is ${paid.status} after ${seconds} s: paid ${paid.paidAmount} of ${paid.amount} USDC`,
    );
    const after = await client.balance();
    say(`balance: ${before.balance} credits before, ${after.balance} after`);
  });
  await progress.step(events.title, async (say) => {
    const event = await events.waitFor(({ data }) => data['reference'] === reference);
    say(`${event.type}, ${event.verdict}`);
  });
}
