/**
 * Returns a function that gathers items by key (decision 31). One call of `pass` gets all items of
 * a key from one turn of the event loop. While this call is in flight, further items of the key
 * wait for the next call and share it.
 */
export function createGatherer<Item>(
  pass: (key: string, items: readonly Item[]) => Promise<void>,
): (key: string, item: Item) => Promise<void> {
  const gathered = new Map<string, { items: Item[]; passed: Promise<void> }>();
  const inFlight = new Map<string, Promise<void>>();

  async function passNext(key: string, items: readonly Item[]): Promise<void> {
    try {
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
