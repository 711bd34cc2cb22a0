export async function until(what: string, timeoutMs: number, check: () => Promise<boolean>) {
  const startedMs = performance.now();
  while (!(await check())) {
    if (performance.now() - startedMs > timeoutMs)
      throw new Error(`gave up after ${timeoutMs} ms of waiting for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/**
 * Maps the id of each delivery to the time of its first arrival at the receiver since the last
 * call, in Unix ms.
 */
export async function arrivalsAt(receiverUrl: string): Promise<Map<string, number>> {
  const answer: unknown = await (await fetch(receiverUrl)).json();
  return new Map(Object.entries(answer ?? {}).map(([id, atMs]) => [id, Number(atMs)]));
}
