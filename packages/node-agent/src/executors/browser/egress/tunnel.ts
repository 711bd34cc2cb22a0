import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** A site that does not close after the browser has closed is cut off after this silence. */
const halfOpenMs = 30_000;

/**
 * Joins both sides of a tunnel, unopened. An end of one side is passed on, an error closes both.
 * Resolves when both are closed.
 */
export async function joinTunnel(client: Duplex, upstream: Socket, head: Buffer): Promise<void> {
  if (head.length > 0) upstream.write(head);
  client.pipe(upstream);
  upstream.pipe(client);
  client.once('end', () => upstream.setTimeout(halfOpenMs, () => upstream.destroy()));
  await Promise.all([closeWith(client, upstream), closeWith(upstream, client)]);
}

/** Resolves when `side` is closed. It closes the other side unless that may still have data. */
function closeWith(side: Duplex, other: Duplex): Promise<void> {
  return new Promise((resolve) => {
    const onClose = (): void => {
      // `side` may have ended in order, and then `other` still writes what it has.
      if (side.errored !== null || !side.readableEnded) other.destroy();
      else other.end();
      resolve();
    };
    if (side.closed) onClose();
    else side.once('close', onClose);
  });
}
