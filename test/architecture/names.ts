import { parseSync } from 'oxc-parser';

/** Returns each identifier in a file once, with the line of its first occurrence. */
export function namesIn(file: string, source: string): ReadonlyMap<string, number> {
  const { program } = parseSync(file, source);
  const names = new Map<string, number>();
  JSON.stringify(program, (_, node) => {
    const isName = node?.type === 'Identifier' || node?.type === 'PrivateIdentifier';
    if (isName && !names.has(node.name)) {
      names.set(node.name, source.slice(0, node.start).split('\n').length);
    }
    return typeof node === 'bigint' ? String(node) : node;
  });
  return names;
}

/** The words of a name, in lower case: `leaseMsMax` has `lease`, `ms` and `max`. */
function wordsOf(name: string): string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/gu, '$1 $2')
    .split(/[ _$]+/u)
    .map((word) => word.toLowerCase());
}

const units = new Set(['ms', 'seconds', 'minutes', 'hours', 'days', 'micros', 'bytes']);
/**
 * Words that may follow a unit, as in `leaseMsMax` and `microsPerCredit`, and in names of functions
 * like `microsOf` and `sendBytesTo`.
 */
const behindUnit = new Set(['max', 'min', 'default', 'per', 'of', 'to']);

/** Members of Node's sockets. They are allowed although a word follows the unit. */
const ofNode = new Set(['bytesRead', 'bytesWritten']);

export function hasMisplacedUnit(name: string): boolean {
  if (ofNode.has(name)) return false;
  const words = wordsOf(name);
  return words.some((word, index) => {
    const next = words[index + 1];
    return units.has(word) && next !== undefined && !behindUnit.has(next);
  });
}

/** The words that names must not contain. They are the first column of a table of the glossary. */
export function refusedWordsOf(glossary: string): string[] {
  const [, section = ''] = glossary.split('## Words that names do not contain\n');
  return [...(section.split('\n## ')[0] ?? '').matchAll(/^\| ([^|]+) \|/gmu)]
    .flatMap(([, words = '']) => [...words.matchAll(/`([^`]+)`/gu)])
    .map(([, word = '']) => word);
}

/**
 * Returns a refused word that is one word of the name, or two consecutive words: `underWay` for
 * `attemptUnderWay`.
 */
export function refusedWordIn(name: string, refused: readonly string[]): string | undefined {
  const words = wordsOf(name);
  const pairs = words.slice(1).map((word, index) => `${words[index]}${word}`);
  const found = new Set([...words, ...pairs]);
  return refused.find((word) => found.has(word.toLowerCase()));
}
