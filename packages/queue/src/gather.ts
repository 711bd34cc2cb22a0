/**
 * Collects items by key, and sends all items of a key in one call: those of one turn of the event
 * loop, and those that arrive while the last call of their key is in flight. Holds and commits that
 * shared a statement are answered in one turn, so the messages that follow can be combined too
 * (decision 9). An item that is alone waits one turn.
 *
 * If a call fails, the items that wait for it fail too, without a call. So with a silent Redis no
 * item waits longer than for its own call and the one before it.
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
