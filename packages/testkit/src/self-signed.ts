import { generateKeyPairSync, sign } from 'node:crypto';

/** The object identifiers of Ed25519 and of ECDSA with SHA-256, in DER, without tag and length. */
const signatureOids = {
  ed25519: [0x2b, 0x65, 0x70],
  p256: [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02],
};

/**
 * Creates a self-signed certificate for `localhost` and 127.0.0.1. Returns it and its key as PEM.
 * Browsers need `p256`.
 */
export function selfSigned(kind: 'ed25519' | 'p256' = 'ed25519'): { cert: string; key: string } {
  const { publicKey, privateKey } =
    kind === 'ed25519'
      ? generateKeyPairSync('ed25519')
      : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = der(0x30, der(0x06, signatureOids[kind]));
  const commonName = der(0x30, der(0x06, [0x55, 0x04, 0x03]), der(0x0c, 'localhost'));
  const name = der(0x30, der(0x31, commonName));
  const alternativeName = der(
    0x30,
    der(0x06, [0x55, 0x1d, 0x11]),
    der(0x04, der(0x30, der(0x82, 'localhost'), der(0x87, [127, 0, 0, 1]))),
  );
  const signed = der(
    0x30,
    der(0xa0, der(0x02, [2])),
    der(0x02, [1]),
    algorithm,
    name,
    der(0x30, der(0x17, '200101000000Z'), der(0x18, '21200101000000Z')),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(0x30, alternativeName)),
  );
  const signature = der(0x03, [0], sign(kind === 'ed25519' ? null : 'sha256', signed, privateKey));
  const lines = der(0x30, signed, algorithm, signature)
    .toString('base64')
    .replace(/.{64}/g, '$&\n');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** Encodes one value in DER: tag, length, content. */
function der(tag: number, ...parts: (Uint8Array | readonly number[] | string)[]): Buffer {
  const content = Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))),
  );
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  if (length < 0x100) return Buffer.concat([Buffer.from([tag, 0x81, length]), content]);
  return Buffer.concat([Buffer.from([tag, 0x82, length >> 8, length & 0xff]), content]);
}
