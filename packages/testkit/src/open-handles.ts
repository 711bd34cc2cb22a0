const kinds = ['Timeout', 'TCPServerWrap', 'TCPSocketWrap'];

/** The number of timers, TCP servers and TCP connections that keep this process alive. */
export function openHandles(): number {
  return process.getActiveResourcesInfo().filter((kind) => kinds.includes(kind)).length;
}
