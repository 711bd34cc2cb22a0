import { generateKeyPairSync } from 'node:crypto';
import { findAssociatedTokenPda, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import { type Address, getAddressDecoder, isAddress } from '@solana/kit';

/** True for 32 bytes in base58, such as a public key. */
export function isSolanaAddress(text: string): boolean {
  return isAddress(text);
}

/** Throws if the text is not an address. */
export function toAddress(text: string): Address {
  if (!isAddress(text)) throw new Error('not a Solana address');
  return text;
}

/**
 * Computes the associated token account of the recipient for a mint of the SPL Token program.
 * Throws if one of the two texts is not an address.
 */
export async function tokenAccountOf(recipient: string, mint: string): Promise<string> {
  const [account] = await findAssociatedTokenPda({
    owner: toAddress(recipient),
    mint: toAddress(mint),
    tokenProgram: TOKEN_PROGRAM_ADDRESS,
  });
  return account;
}

/**
 * Makes a fresh public key in base58, for the reference of a purchase intent. The private key is
 * discarded.
 */
export function newReference(): string {
  const { x = '' } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
  return getAddressDecoder().decode(Buffer.from(x, 'base64url'));
}
