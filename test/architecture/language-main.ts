import { offencesIn, proseFiles } from './language.ts';

/**
 * `node test/architecture/language-main.ts [path...]` lists the wordings that `language.test.ts`
 * refuses, in all `.ts` and `.md` files or only in those of the given paths.
 */
const files = proseFiles('.', process.argv.slice(2));
const found = offencesIn('.', files);
for (const { file, line, rule, found: match } of found) {
  console.log(`${file}:${line}: "${match.slice(0, 120)}" -> ${rule}`);
}
console.log(
  `${found.length} places to correct in ${new Set(found.map(({ file }) => file)).size} files`,
);
