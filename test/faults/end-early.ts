/** Ctrl-C and `kill` end a run as an exit does, so that what it mounted goes with it. */
export function endEarlyInOrder(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
}
