const kinds = ['Timeout', 'TCPServerWrap', 'TCPSocketWrap'];

/** The number of timers, servers and connections that keep this process alive. */
export function openHandles(): number {
  return process.getActiveResourcesInfo().filter((kind) => kinds.includes(kind)).length;
}
