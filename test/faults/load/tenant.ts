import type { WebhookReceiver } from '@svc/local';
import type { Signer } from './http.ts';

/** A customer of the run. */
export interface LoadTenant {
  readonly name: string;
  readonly tenantId: string;
  readonly signer: Signer;
  readonly webhookSecret: string;
  /** Undefined: it has given no URL, and is to be told nothing. */
  readonly receiver: WebhookReceiver | undefined;
  /** Where its endpoint is at first. It may move to any path below. Undefined without a receiver. */
  readonly webhookUrl: string | undefined;
  /** Has credit for a few submissions only, and is given a little more now and then. */
  readonly isPoor: boolean;
}
