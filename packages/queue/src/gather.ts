/**
 * Collects the items of one turn of the event loop by key, and sends all items of a key in one
 * call. Holds and commits that shared a statement are answered in one turn, so the messages
 * that follow can be combined too (decision 9). No item waits longer than that turn.
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
