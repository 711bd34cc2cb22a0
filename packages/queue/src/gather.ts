/**
 * Collects items by key, and passes the collected items of a key in one call. These are the items
 * of one turn of the event loop, and those that arrive while the last call of the key is in flight.
 * Holds and commits that shared a statement are answered in one turn. The messages that follow can
 * then be combined too (decision 9).
 *
 * If a call fails, the items that wait for it fail too, without a call. With a silent Redis, an
 * item therefore waits for at most one time-out.
 */
export function createGatherer<Item>(
  pass: (key: string, items: readonly Item[]) => Promise<void>,
): (key: string, item: Item) => Promise<void> {
  const gathered = new Map<string, { items: Item[]; passed: Promise<void> }>();
  const inFlight = new Map<string, Promise<void>>();

  async function passNext(key: string, items: readonly Item[]): Promise<void> {
    try {
      await new Promise((resolve) => setImmediate(resolve));
      await inFlight.get(key);
    } finally {
      gathered.delete(key);
    }
    const call = pass(key, items);
    inFlight.set(key, call);
    try {
      await call;
    } finally {
      inFlight.delete(key);
    }
  }

  return (key, item) => {
    const found = gathered.get(key);
    if (found !== undefined) {
      found.items.push(item);
      return found.passed;
    }
    const items = [item];
    const passed = passNext(key, items);
    gathered.set(key, { items, passed });
    return passed;
  };
}
