import type { Sealer } from './store.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Opens what was sealed as UTF-8 text. Throws where it was sealed elsewhere, or was tampered with. */
export function unsealText(sealer: Sealer, binding: string, sealed: Uint8Array): string {
  return decoder.decode(sealer.unseal(binding, sealed));
}
