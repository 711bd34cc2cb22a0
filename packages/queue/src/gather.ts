/**
 * Gathers what is asked for in one turn of the event loop, by a key, and passes each key's share on
 * as one: holds and commits that shared a statement are answered in one turn, so that what follows
 * them can share a message (docs/decisions/0009). Nothing waits longer than that turn.
 */
export function createGatherer<Item>(
  pass: (key: string, items: readonly Item[]) => Promise<void>,
): (key: string, item: Item) => Promise<void> {
  const gathered = new Map<string, { items: Item[]; passed: Promise<void> }>();
  return (key, item) => {
    const found = gathered.get(key);
    if (found !== undefined) {
      found.items.push(item);
      return found.passed;
    }
    const items = [item];
    const passed = new Promise((resolve) => setImmediate(resolve)).then(() => {
      gathered.delete(key);
      return pass(key, items);
    });
    gathered.set(key, { items, passed });
    return passed;
  };
}
