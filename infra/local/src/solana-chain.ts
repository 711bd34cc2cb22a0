import { EventEmitter, once } from 'node:events';
import path from 'node:path';
import type { Closer } from './closer.ts';
import { checkoutDir } from './paths.ts';
import { startServiceProcess } from './service-process.ts';

export interface SolanaChain {
  /** The environment variables with which the rail accepts payments on this chain (CONTRACT 8). */
  readonly env: NodeJS.ProcessEnv;
  /**
   * Pays a Solana Pay URL and returns the signature. The transaction is not final before
   * `finalize`. Throws if no signature arrives within `answerBoundMs`.
   */
  pay(solanaPayUrl: string): Promise<string>;
  finalize(): void;
}

interface ChainMessages {
  readonly terms: [{ readonly rpcUrl: string; readonly recipient: string; readonly mint: string }];
  readonly signature: [string];
}

const entry = path.join(checkoutDir, 'test/solana/chain/main.ts');
const answerBoundMs = 30_000;

function bound(): { readonly signal: AbortSignal } {
  return { signal: AbortSignal.timeout(answerBoundMs) };
}

/**
 * Starts a local Solana chain in a separate process. Throws StartError if the chain does not become
 * ready, and another error if its terms do not arrive in time.
 */
export async function startSolanaChain(closer: Closer): Promise<SolanaChain> {
  const messages = new EventEmitter<ChainMessages>();
  const announced = once(messages, 'terms', bound());
  // If the chain does not start, `startServiceProcess` throws, and `announced` is never awaited.
  // Its later rejection must not end this process.
  announced.catch(() => {});
  const chain = await startServiceProcess({
    name: 'solana chain',
    entry,
    env: process.env,
    onMessage: (message) => pass(message, messages),
  });
  await closer.add(() => chain.stop());
  const [{ rpcUrl, recipient, mint }] = await announced;
  return {
    env: {
      SOLANA_RAIL_ENABLED: 'true',
      SOLANA_RPC_URL: rpcUrl,
      SOLANA_RECIPIENT: recipient,
      SOLANA_USDC_MINT: mint,
    },
    async pay(solanaPayUrl) {
      const sent = once(messages, 'signature', bound());
      chain.send({ pay: solanaPayUrl });
      const [signature] = await sent;
      return signature;
    },
    finalize: () => chain.send({ finalize: true }),
  };
}

function pass(message: unknown, messages: EventEmitter<ChainMessages>): void {
  const { rpcUrl, recipient, mint, signature } = Object(message);
  if (typeof signature === 'string') messages.emit('signature', signature);
  else messages.emit('terms', { rpcUrl, recipient, mint });
}
