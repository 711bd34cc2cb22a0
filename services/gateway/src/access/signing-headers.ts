/** The headers that say who signed a request, and how (CONTRACT 1). */
export interface SigningHeaders {
  /** Every identity header of the request. A request with more than one is malformed. */
  readonly identities: readonly { readonly name: IdentityHeader; readonly id: string }[];
  /**
   * In `timestamp`, `signature` and `keyId`, the values of a repeated header are joined with a
   * comma and a space.
   */
  readonly timestamp: string | undefined;
  readonly signature: string | undefined;
  /** The key that `X-SVC-Key` names (CONTRACT 12). Undefined if the header is missing. */
  readonly keyId: string | undefined;
}

type IdentityHeader = 'x-svc-tenant' | 'x-svc-operator' | 'x-svc-node';

/** Reads the signing headers from Node's `rawHeaders`, in which names and values alternate. */
export function readSigningHeaders(rawHeaders: readonly string[]): SigningHeaders {
  const identities: { name: IdentityHeader; id: string }[] = [];
  let timestamp: string | undefined;
  let signature: string | undefined;
  let keyId: string | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase();
    const value = rawHeaders[index + 1] ?? '';
    if (name === 'x-svc-timestamp') timestamp = joined(timestamp, value);
    else if (name === 'x-svc-signature') signature = joined(signature, value);
    else if (name === 'x-svc-key') keyId = joined(keyId, value);
    else if (name === 'x-svc-tenant' || name === 'x-svc-operator' || name === 'x-svc-node') {
      identities.push({ name, id: value });
    }
  }
  return { identities, timestamp, signature, keyId };
}

function joined(earlier: string | undefined, value: string): string {
  return earlier === undefined ? value : `${earlier}, ${value}`;
}
