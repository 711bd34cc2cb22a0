/** A signed request, with its body as received. */
export interface SignedRequest {
  readonly requestId: string;
  /** Path and query exactly as sent. */
  readonly target: string;
  /** From the path; percent-decoded. */
  readonly id: string;
  readonly body: Buffer;
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
}
