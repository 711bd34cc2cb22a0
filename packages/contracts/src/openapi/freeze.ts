import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { generatedFiles } from './client-types/write.ts';
import { breakingChanges } from './compatibility.ts';
import { openApiDocument } from './document.ts';
import { frozenDocumentUrl } from './frozen.ts';

/**
 * `pnpm openapi:freeze`: refuses changes to v1 that would break clients (CONTRACT 0). Such a change
 * belongs under /v2/. If no change is refused, the command copies the additions into the frozen
 * copy and generates the types of the client libraries.
 */
const present = openApiDocument();
const changes = breakingChanges(JSON.parse(readFileSync(frozenDocumentUrl, 'utf8')), present);
if (changes.length > 0) {
  process.stderr.write(
    `The frozen copy was not updated. These changes break clients of v1 and belong under /v2/:\n${changes.join('\n')}\n`,
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
