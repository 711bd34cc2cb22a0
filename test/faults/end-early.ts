/** Ctrl-C and `kill` end a run like a normal exit, so that its mounts are removed. */
export function endEarlyInOrder(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
}
