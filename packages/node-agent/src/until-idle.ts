/**
 * Resolves with true when `isIdle` is true, or with its result after `timeoutMs`. While it waits, it
 * has a function in `checks`, which the caller calls after each change.
 */
export async function untilIdle(
  isIdle: () => boolean,
  checks: Set<() => void>,
  timeoutMs: number,
): Promise<boolean> {
  if (isIdle()) return true;
  return await new Promise<boolean>((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      checks.delete(check);
      resolve(isIdle());
    };
    const check = (): void => {
      if (isIdle()) finish();
    };
    const timer = setTimeout(finish, timeoutMs);
    checks.add(check);
  });
}
