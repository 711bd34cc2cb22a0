export const readinessTimeoutMs = 2_000;

/**
 * Throws, rejects or returns false if the dependency is unavailable. Any other result within
 * `readinessTimeoutMs` means available.
 */
export type ReadinessCheck = () => unknown;

async function isAvailable(check: ReadinessCheck): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, readinessTimeoutMs, false);
  });
  try {
    const answered = (async () => (await check()) !== false)();
    return await Promise.race([answered, timeout]);
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}

export async function missingDependencies(
  checks: Readonly<Record<string, ReadinessCheck>>,
): Promise<string[]> {
  const answers = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => ({
      name,
      available: await isAvailable(check),
    })),
  );
  return answers.filter(({ available }) => !available).map(({ name }) => name);
}
