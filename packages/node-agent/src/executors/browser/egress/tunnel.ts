import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/**
 * The longest silence of a site after the browser has closed its side of the connection. After this
 * time the proxy closes the connection to the site.
 */
const halfOpenMs = 30_000;

/**
 * Joins both sides of a tunnel without reading their content. Passes the end of one side on to the
 * other. An error closes both. Resolves when both are closed.
 */
export async function joinTunnel(client: Duplex, upstream: Socket, head: Buffer): Promise<void> {
  if (head.length > 0) upstream.write(head);
  client.pipe(upstream);
  upstream.pipe(client);
  client.once('end', () => upstream.setTimeout(halfOpenMs, () => upstream.destroy()));
  await Promise.all([closeWith(client, upstream), closeWith(upstream, client)]);
}

function closeWith(side: Duplex, other: Duplex): Promise<void> {
  return new Promise((resolve) => {
    const onClose = (): void => {
      // If `side` ended normally, `other` writes its remaining data before it closes.
      if (side.errored !== null || !side.readableEnded) other.destroy();
      else other.end();
      resolve();
    };
    if (side.closed) onClose();
    else side.once('close', onClose);
  });
}
