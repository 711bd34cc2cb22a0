/** A dependency that takes longer to answer counts as missing. */
export const readinessTimeoutMs = 2_000;

/** Throws, rejects, or says false where the dependency cannot be used. */
export type ReadinessCheck = () => unknown;

async function holds(check: ReadinessCheck): Promise<boolean> {
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

/** The names of the dependencies that cannot be used at present, all asked at once. */
export async function missingDependencies(
  checks: Readonly<Record<string, ReadinessCheck>>,
): Promise<string[]> {
  const answers = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => ({ name, present: await holds(check) })),
  );
  return answers.filter(({ present }) => !present).map(({ name }) => name);
}
