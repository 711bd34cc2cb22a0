import type { WebhookReceiver } from '@svc/local';
import type { Signer } from './http.ts';

export interface LoadTenant {
  readonly name: string;
  readonly tenantId: string;
  readonly signer: Signer;
  readonly webhookSecret: string;
  /** Undefined if the tenant has no URL. The tenant must then get no webhook. */
  readonly receiver: WebhookReceiver | undefined;
  /**
   * The first URL of the tenant's endpoint. The tenant may move the endpoint to any path below this
   * URL. Undefined without a receiver.
   */
  readonly webhookUrl: string | undefined;
  /**
   * True if the tenant has credits for only a few submissions. The load sometimes grants the tenant
   * more credits.
   */
  readonly isPoor: boolean;
}
