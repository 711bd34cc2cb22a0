import type { WebhookReceiver } from '@svc/local';
import type { Signer } from './http.ts';

/** A tenant of the run. */
export interface LoadTenant {
  readonly name: string;
  readonly tenantId: string;
  readonly signer: Signer;
  readonly webhookSecret: string;
  /** Undefined if it has no URL. Then it must get no webhook. */
  readonly receiver: WebhookReceiver | undefined;
  /**
   * The first URL of its endpoint. The tenant may move the endpoint to any path below. Undefined
   * without a receiver.
   */
  readonly webhookUrl: string | undefined;
  /** True if it has credit for a few submissions only. It gets a little more from time to time. */
  readonly isPoor: boolean;
}
