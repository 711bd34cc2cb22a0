import { createWebhookReceiver as create, type WebhookReceiver } from '@svc/local';
import { track } from './open-resources.ts';

/**
 * Starts a receiver of a tenant's webhooks on a free port of 127.0.0.1. See
 * infra/local/src/webhook-receiver.ts.
 */
export async function createWebhookReceiver(): Promise<WebhookReceiver> {
  const receiver = await create();
  const close = track({ what: 'a webhook receiver', close: () => receiver.close() });
  return { ...receiver, close };
}
