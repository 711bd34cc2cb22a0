/** What tests opened and have not closed, so that a file that forgets something fails. */

interface OpenResource {
  readonly what: string;
  /** The end of its log, for a test that fails. */
  readonly logs?: () => string;
  readonly close: () => Promise<void>;
}

const open = new Set<OpenResource>();
/** The logs of what was closed since the last test began: a test may fail and close all the same. */
let closedLogs: string[] = [];

/**
 * Remembers a resource; returns a `close` that forgets it, closes it, and does nothing the second
 * time.
 */
export function track(resource: OpenResource): () => Promise<void> {
  open.add(resource);
  let closing: Promise<void> | undefined;
  return () => {
    closing ??= closeOne(resource);
    return closing;
  };
}

async function closeOne(resource: OpenResource): Promise<void> {
  open.delete(resource);
  try {
    await resource.close();
  } finally {
    if (resource.logs !== undefined) closedLogs.push(resource.logs());
  }
}

/** Forgets the logs of what earlier tests closed. */
export function forgetClosed(): void {
  closedLogs = [];
}

/** The logs of everything that is open, or was closed since the test began. */
export function recentLogs(): string {
  const openLogs = [...open].flatMap(({ logs }) => (logs === undefined ? [] : [logs()]));
  return [...closedLogs, ...openLogs].join('\n');
}

/** Closes what is open, the last opened first; returns what that was. */
export async function closeLeftovers(): Promise<string[]> {
  const leftovers = [...open].toReversed();
  for (const resource of leftovers) {
    await closeOne(resource);
  }
  return leftovers.map(({ what }) => what);
}
