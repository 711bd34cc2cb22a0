import { chromiumBinary, pgbouncerBinary, StartError } from '@svc/local';

/**
 * Fetches Chromium and PgBouncer before the tests if this machine does not have them. Prints a
 * StartError and does not throw it.
 */
export async function fetchPrograms(): Promise<void> {
  await Promise.all([
    orExplain(chromiumBinary(() => sayFetching('Chromium'))),
    orExplain(pgbouncerBinary(() => sayFetching('PgBouncer'))),
  ]);
}

function sayFetching(program: string): void {
  process.stdout.write(`Fetching ${program}. Later runs use the fetched copy.\n`);
}

async function orExplain(fetching: Promise<unknown>): Promise<void> {
  try {
    await fetching;
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    process.stderr.write(`${error.message}\n${error.advice}\n`);
  }
}
