import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { ConfigError } from './config.ts';

/** The PEM texts of a certificate chain and of its private key. */
export interface TlsPair {
  readonly cert: string;
  readonly key: string;
}

/**
 * Reads the files that the variables `certVariable` and `keyVariable` name. Null if neither is set.
 * Throws `ConfigError` if a file cannot be read, or if the two do not fit together.
 */
export function readTlsPair(
  [certVariable, certFile]: readonly [string, string | undefined],
  [keyVariable, keyFile]: readonly [string, string | undefined],
): TlsPair | null {
  if (certFile === undefined || keyFile === undefined) return null;
  let pair: TlsPair;
  try {
    pair = { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
  } catch (error) {
    throw new ConfigError(
      `The file that ${certVariable} or ${keyVariable} names cannot be read. Check its path and permissions.`,
      { cause: error },
    );
  }
  try {
    createSecureContext(pair);
  } catch (error) {
    throw new ConfigError(
      `The files that ${certVariable} and ${keyVariable} name are not a certificate and its private key. Set both to PEM files that belong together.`,
      { cause: error },
    );
  }
  return pair;
}
