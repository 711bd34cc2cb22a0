import { execFileSync } from 'node:child_process';
import { offencesIn } from './language.ts';

/**
 * `node test/architecture/language-main.ts [path...]` lists the wordings that `language.test.ts`
 * refuses, in all `.ts` and `.md` files or only in those of the given paths.
 */
const files = execFileSync('git', ['ls-files', ...process.argv.slice(2)], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => /\.(?:ts|md)$/u.test(file) && !file.includes('/generated/'));
const found = offencesIn('.', files);
for (const { file, line, rule, found: match } of found) {
  console.log(`${file}:${line}: "${match.slice(0, 120)}" -> ${rule}`);
}
console.log(
  `${found.length} places to correct in ${new Set(found.map(({ file }) => file)).size} files`,
);
