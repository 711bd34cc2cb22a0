/** A body of more bytes is large. */
const largeBodyBytes = 16 * 1024;

/** The process has one event loop, so all requests share this queue. */
let last = Promise.resolve();

/**
 * At most one large body resolves in each turn of the event loop, so the requests of others run in
 * between. Any other body resolves at once.
 */
export async function largeBodyTurn(bytes: number): Promise<void> {
  if (bytes <= largeBodyBytes) return;
  last = last.then(() => new Promise((resolve) => void setImmediate(resolve)));
  await last;
}
