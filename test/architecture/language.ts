import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseSync } from 'oxc-parser';

export interface Prose {
  readonly file: string;
  /** The line of the file on which the text begins, counted from 1. */
  readonly line: number;
  readonly kind: 'comment' | 'string' | 'document';
  readonly text: string;
}

export interface Offence extends Prose {
  readonly rule: string;
  readonly found: string;
}

const commentCharactersMax = 180;
const sentenceWordsMax = 32;

/**
 * Constructions that readers stumble over, and unusual words for things that have a usual name
 * (docs/STYLE.md 8 and 13). `rule` says what to write instead.
 */
const banned: readonly (readonly [rule: string, pattern: RegExp])[] = [
  [
    'notify, report',
    /\b(?:is|are|was|were|be|been|being|gets?) told\b|\b(?:tell|tells|told) of\b/iu,
  ],
  ['fix, repair, reconcile', /\bmend(?:s|ed|ing)?\b/iu],
  ['next to, besides, in addition to', /\bbeside\b/iu],
  ['baseline', /\bthe floor\b/iu],
  ['wake-up job', /\balarms?\b/iu],
  ['enqueue a wake-up job', /\b(?:rings?|rang|rung|ringing)\b/iu],
  ['its own', /\bof (?:its|their|his|one's) own\b/iu],
  ['is, must be, will be', /\b(?:is|are|was|were) to (?:be|have)\b/iu],
  ['again, new', /\banew\b/iu],
  ['the limit', /\bas (?:many|much|long|old|late|few|little) as may\b/iu],
  ['anyone who, an X that', /\bwho(?:so)?ever\b|\bwheresoever\b/iu],
  ['if', /\bwhere (?:there|nothing|nobody|somebody|none|no|neither)\b/iu],
  ['those that are', /\bsuch as are\b/iu],
  ['however, anyway', /\ball the same\b/iu],
  ['does not need to', /\bneeds? not\b/iu],
  [
    'of this, in this, after this',
    /\b(?:thereof|therein|whereof|wherein|whereupon|thereby|thence|hence|ere)\b/iu,
  ],
  ['for example', /, say[,.;)]|, say$/iu],
  ['malformed, invalid', /\bno proper\b|\bof no kind\b/iu],
  [
    'start with the subject',
    /(?:^|[.!?] )(?:What|Whose|Whether|Of|So (?:old|long|much|many|far)) [a-z]/u,
  ],
  ['open an issue instead of writing a note in the code', /\b(?:TODO|FIXME|XXX)\b/u],
];

/**
 * The `.ts` and `.md` files of the checkout at `paths`. Leaves out generated code, and
 * `language.test.ts`, which contains wrong examples.
 */
export function proseFiles(checkoutDir: string, paths: readonly string[]): string[] {
  const leftOut = /\/generated\/|\/language\.test\.ts$/u;
  return execFileSync('git', ['ls-files', ...paths], { cwd: checkoutDir, encoding: 'utf8' })
    .split('\n')
    .filter((file) => /\.(?:ts|md)$/u.test(file) && !leftOut.test(file));
}

/** The paths of `files` are relative to `root`. */
export function offencesIn(root: string, files: readonly string[]): Offence[] {
  return files.flatMap((file) => proseOf(root, file)).flatMap(offencesOf);
}

export function offencesOf(prose: Prose): Offence[] {
  const text = prose.text.replaceAll(/`[^`]*`/gu, '`x`');
  const found: Offence[] = banned.flatMap(([rule, pattern]) => {
    const match = pattern.exec(text);
    return match === null ? [] : [{ ...prose, rule, found: match[0] }];
  });
  if (prose.kind === 'comment' && prose.text.length > commentCharactersMax) {
    found.push({ ...prose, rule: `at most ${commentCharactersMax} characters`, found: 'length' });
  }
  if (prose.kind !== 'string') {
    const long = sentencesOf(text).find((sentence) => wordsOf(sentence) > sentenceWordsMax);
    if (long !== undefined) {
      found.push({ ...prose, rule: `at most ${sentenceWordsMax} words a sentence`, found: long });
    }
  }
  return found;
}

function sentencesOf(text: string): string[] {
  return text.split(/(?<=[.:;!?])\s+|\n\s*(?:[-*|]|\d+\.)\s|\n\n|\s\|\s/u);
}

function wordsOf(sentence: string): number {
  return sentence.split(/\s+/u).filter((word) => /[a-z]/iu.test(word)).length;
}

function proseOf(root: string, file: string): Prose[] {
  const source = readFileSync(`${root}/${file}`, 'utf8');
  return file.endsWith('.ts') ? proseOfCode(file, source) : proseOfDocument(file, source);
}

function proseOfCode(file: string, source: string): Prose[] {
  const { comments, program } = parseSync(file, source);
  const lineOf = (offset: number) => source.slice(0, offset).split('\n').length;
  const found: Prose[] = joinLines(source, comments).map(({ start, text }) => ({
    file,
    line: lineOf(start),
    kind: 'comment',
    text,
  }));
  JSON.stringify(program, (_, node) => {
    const text: unknown =
      node?.type === 'Literal' ? node.value : node?.type === 'TemplateElement' && node.value.cooked;
    if (typeof text === 'string' && isSentence(text)) {
      found.push({ file, line: lineOf(node.start), kind: 'string', text });
    }
    return typeof node === 'bigint' ? String(node) : node;
  });
  return found;
}

/** Returns the texts of the comments. Consecutive `//` lines become one text. */
function joinLines(
  source: string,
  comments: readonly { type: string; value: string; start: number; end: number }[],
): { start: number; text: string }[] {
  const joined: { start: number; end: number; text: string; isLine: boolean }[] = [];
  for (const { type, value, start, end } of comments) {
    const text = value.replaceAll(/^\s*\*? ?/gmu, '').trim();
    const last = joined.at(-1);
    const isLine = type === 'Line';
    if (last?.isLine && isLine && source.slice(last.end, start).trim() === '') {
      last.text += ` ${text}`;
      last.end = end;
    } else joined.push({ start, end, text, isLine });
  }
  return joined;
}

function isSentence(text: string): boolean {
  return (
    /^\W*\p{L}+ \p{L}+ \p{L}+/u.test(text) &&
    !/\b(?:SELECT|UPDATE|INSERT|DELETE|WHERE|CREATE|ALTER|redis\.call)\b/u.test(text)
  );
}

function proseOfDocument(file: string, source: string): Prose[] {
  const found: Prose[] = [];
  let line = 1;
  for (const paragraph of source
    .replaceAll(/```[\s\S]*?```/gu, (code) => code.replaceAll(/[^\n]/gu, ''))
    .split('\n\n')) {
    if (paragraph.trim() !== '') found.push({ file, line, kind: 'document', text: paragraph });
    line += paragraph.split('\n').length + 1;
  }
  return found;
}
