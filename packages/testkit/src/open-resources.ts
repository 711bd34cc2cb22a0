/** Tracks the resources that tests have opened. A test file fails if it leaves one open. */

interface OpenResource {
  readonly what: string;
  /** Returns the end of the resource's log. This text is printed if a test fails. */
  readonly logs?: () => string;
  readonly close: () => Promise<void>;
}

const open = new Set<OpenResource>();
/**
 * The logs of resources that were closed since the last test began. They are kept because a failed
 * test may close its resources before the logs are printed.
 */
let closedLogs: string[] = [];

/**
 * Tracks a resource. The returned function closes the resource once: each of its calls returns the
 * same promise.
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

export function forgetClosed(): void {
  closedLogs = [];
}

export function recentLogs(): string {
  const openLogs = [...open].flatMap(({ logs }) => (logs === undefined ? [] : [logs()]));
  return [...closedLogs, ...openLogs].join('\n');
}

/**
 * Closes the open resources, the last opened one first. Returns their names in this order. Rejects
 * at the first one that cannot be closed.
 */
export async function closeLeftovers(): Promise<string[]> {
  const leftovers = [...open].toReversed();
  for (const resource of leftovers) {
    await closeOne(resource);
  }
  return leftovers.map(({ what }) => what);
}
