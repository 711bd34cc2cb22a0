const kinds = ['Timeout', 'TCPServerWrap', 'TCPSocketWrap'];

/** How many timers, servers and connections keep this process alive. */
export function openHandles(): number {
  return process.getActiveResourcesInfo().filter((kind) => kinds.includes(kind)).length;
}
