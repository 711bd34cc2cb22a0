import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { generatedFiles } from './client-types/write.ts';
import { breakingChanges } from './compatibility.ts';
import { openApiDocument } from './document.ts';
import { frozenDocumentUrl } from './frozen.ts';

/**
 * `pnpm openapi:freeze`: refuses changes that break clients of v1. Otherwise updates the frozen
 * copy and the types of the client libraries (decision 11).
 */
const present = openApiDocument();
const changes = breakingChanges(JSON.parse(readFileSync(frozenDocumentUrl, 'utf8')), present);
if (changes.length > 0) {
  process.stderr.write(
    `The frozen copy of v1 was not updated. These changes break clients of v1 and belong under /v2/:\n${changes.join('\n')}\n`,
  );
  process.exitCode = 1;
} else {
  writeFileSync(frozenDocumentUrl, `${JSON.stringify(present, null, 2)}\n`);
  for (const { url, text } of generatedFiles(present)) {
    mkdirSync(new URL('.', url), { recursive: true });
    writeFileSync(url, text);
  }
  process.stdout.write('The frozen copy of v1 and the types of the clients are up to date.\n');
}
