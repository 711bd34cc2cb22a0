import type { RequestTrace } from '@svc/tracing';
export interface SignedRequest {
  readonly requestId: string;
  readonly trace: RequestTrace;
  /** The path and query exactly as sent. */
  readonly target: string;
  /**
   * The `:id`, `:reference` or `:keyId` of the path, percent-decoded. Empty if the route has none.
   */
  readonly id: string;
  readonly body: Buffer;
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
}
