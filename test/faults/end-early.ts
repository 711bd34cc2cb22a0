/**
 * Makes Ctrl-C and `kill` end a run like a normal exit. The exit handlers then remove the mounts of
 * the run.
 */
export function endEarlyInOrder(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
}
