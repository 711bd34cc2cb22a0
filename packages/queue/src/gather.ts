/**
 * Collects items by key, and passes the items of one key to `pass` in one call. A call has the
 * items of one turn of the event loop, and the items that arrived while the previous call of the
 * key was in flight. Many commits can therefore share one message to Redis (decision 9).
 *
 * If a call fails, the items that wait for its end fail too, without a call. If Redis does not
 * answer, an item therefore waits for at most one time-out.
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
