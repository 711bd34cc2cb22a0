import { webhookUrlLengthMax } from './limits.ts';
import { isPublicHost } from './public-host.ts';

export type WebhookUrlCheck =
  | { readonly kind: 'accepted'; readonly url: string }
  | { readonly kind: 'refused'; readonly reason: string };

function refuse(reason: string): WebhookUrlCheck {
  return { kind: 'refused', reason };
}

/**
 * Decides whether a tenant may use a URL for webhooks (CONTRACT 6, "Destinations"). Checks only the
 * text of the URL, and does not look up the address of its host.
 */
export function checkWebhookUrl(
  text: string,
  { allowPrivateNetworks }: { readonly allowPrivateNetworks: boolean },
): WebhookUrlCheck {
  if (text.length > webhookUrlLengthMax) {
    return refuse(`must be at most ${webhookUrlLengthMax} characters long`);
  }
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return refuse('must be a valid URL');
  }
  const protocols = allowPrivateNetworks ? ['http', 'https'] : ['https'];
  if (!protocols.some((protocol) => url.protocol === `${protocol}:`))
    return refuse(`must be an ${protocols.join(' or ')} URL`);
  if (url.username !== '' || url.password !== '')
    return refuse('must not contain a user name or password');
  if (!allowPrivateNetworks && !isPublicHost(url.hostname)) {
    return refuse('must have a public host name or address');
  }
  return { kind: 'accepted', url: text };
}
