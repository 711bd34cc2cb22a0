import process from 'node:process';
import { address, generateKeyPairSigner } from '@solana/kit';
import { LocalChain } from './local-chain.ts';
import { createPayer, memo, readPayUrl, send, tokenAccountOf, transfer } from './payer.ts';
import { startRpcServer } from './rpc-server.ts';

/** The local chain of `SOLANA_DEMO=1 npm start`: a process with an RPC server and a payer. */

const chain = new LocalChain();
chain.finalizeAtOnce(false);
const [owner, mintSigner] = await Promise.all([generateKeyPairSigner(), generateKeyPairSigner()]);
const mint = mintSigner.address;
chain.createMint(mint, owner.address);
const tokenAccount = await tokenAccountOf(owner.address, mint);
chain.createTokenAccount(tokenAccount, { mint, owner: owner.address });
const rpcServer = await startRpcServer(chain);
const payer = await createPayer(chain, mint);

async function pay(url: string): Promise<string> {
  const { recipient, mint: token, amount, references } = readPayUrl(url);
  const destination = await tokenAccountOf(address(recipient), address(token));
  return await send(rpcServer.url, payer, [
    memo(),
    transfer(payer, destination, amount, references),
  ]);
}

process.on('message', (message: { readonly pay?: string }) => {
  if (message.pay === undefined) chain.finalize();
  else void pay(message.pay).then((signature) => process.send?.({ signature }));
});
process.on('disconnect', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));
process.send?.({ rpcUrl: rpcServer.url, recipient: owner.address, mint });
process.stdout.write(`${JSON.stringify({ msg: 'ready' })}\n`);
