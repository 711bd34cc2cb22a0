/**
 * Returns a function that passes items of the same key to `pass` together (decision 31). While a
 * call is in flight, further items of its key share the next call.
 */
export function createGatherer<Item>(
  pass: (key: string, items: readonly Item[]) => Promise<void>,
): (key: string, item: Item) => Promise<void> {
  const gathered = new Map<string, { items: Item[]; passed: Promise<void> }>();
  const inFlight = new Map<string, Promise<void>>();

  async function passNext(key: string, items: readonly Item[]): Promise<void> {
    try {
      // All items of the key from this turn of the event loop share the call.
      await new Promise((resolve) => setImmediate(resolve));
      // If the previous call fails, this line throws, and these items fail without a call. With a
      // call, they could wait for two time-outs.
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
