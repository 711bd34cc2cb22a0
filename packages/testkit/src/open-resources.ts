/** What tests opened and have not closed, so that a file that forgets something fails. */

interface OpenResource {
  readonly what: string;
  /** The end of its log, for a test that failed. */
  readonly logs?: () => string;
  readonly close: () => Promise<void>;
}

const open = new Set<OpenResource>();

/**
 * Remembers a resource; returns a `close` that forgets it, closes it, and does nothing the second
 * time.
 */
export function track(resource: OpenResource): () => Promise<void> {
  open.add(resource);
  let closing: Promise<void> | undefined;
  return () => {
    open.delete(resource);
    closing ??= resource.close();
    return closing;
  };
}

/** The logs of everything that is open. */
export function openLogs(): string {
  return [...open].flatMap(({ logs }) => (logs === undefined ? [] : [logs()])).join('\n');
}

/** Closes what is open, the last opened first; returns what that was. */
export async function closeLeftovers(): Promise<string[]> {
  const leftovers = [...open].toReversed();
  open.clear();
  for (const resource of leftovers) {
    await resource.close();
  }
  return leftovers.map(({ what }) => what);
}
