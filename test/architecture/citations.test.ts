import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, test } from 'vitest';

const checkoutDir = path.resolve(import.meta.dirname, '../..');
/** This file contains wrong citations on purpose, so the tests leave it out. */
const self = path.relative(checkoutDir, import.meta.filename);

function read(file: string): string {
  return readFileSync(path.join(checkoutDir, file), 'utf8');
}

const files = globSync(
  [
    '*.{md,yml,mjs,ts}',
    '.env.example',
    '{docs,infra,packages,prisma,services,test}/**/*.{ts,mjs,md,sql,prisma,sh,yml,lua}',
  ],
  {
    cwd: checkoutDir,
    exclude: (name) => /^(node_modules|generated|\.local)$/.test(path.basename(name)),
  },
).filter((file) => file !== self);

const contractFile = 'docs/CONTRACT.md';
const sections = new Map(
  read(contractFile)
    .split(/^## (?=\d+\. )/m)
    .slice(1)
    .map((section) => [Number.parseInt(section, 10), section]),
);
const decisions = new Set(
  globSync('docs/decisions/*.md', { cwd: checkoutDir }).map((file) =>
    Number.parseInt(path.basename(file), 10),
  ),
);

/**
 * A citation has one of these forms: `CONTRACT 7`, `CONTRACT 2, 5 and 8`, `CONTRACT 1 to 3`,
 * `CONTRACT 7, "Slots"`.
 */
const citation = /^CONTRACT (\d+(?:(?:, | and | to )\d+)*)(?:, "([^"]+)")?/;

function contractFaults(text: string): string[] {
  return [...text.matchAll(/\bCONTRACT\b(?!\.md(?! section))/g)].flatMap(({ index }) => {
    const line = text.slice(index).split('\n', 1)[0] ?? '';
    const [, numbers, title] = citation.exec(line) ?? [];
    if (numbers === undefined) return [`not a citation: ${line}`];
    const cited = numbers.split(/, | and | to /).map(Number);
    const missing = cited.filter((number) => !sections.has(number));
    if (missing.length > 0) return [`no section ${missing.join(', ')}: ${line}`];
    const isThere = (number: number) => hasTitle(sections.get(number) ?? '', title ?? '');
    return title === undefined || cited.some(isThere) ? [] : [`no such title: ${line}`];
  });
}

function hasTitle(section: string, title: string): boolean {
  return section.includes(`### ${title}\n`) || section.includes(`**${title}.**`);
}

function otherFaults(text: string): string[] {
  const strangers = [...text.matchAll(/\b(?:SPEC|DESIGN)\b.*/g)].map(([found]) => found);
  const cited = text.matchAll(/\b[Dd]ecision\s+(\d+)\b|decisions\/(\d{4})/g);
  const missing = [...cited].filter(([, a, b]) => !decisions.has(Number(a ?? b)));
  const documents = [...text.matchAll(/(?<![\w./-])docs\/[\w/-]+\.md/g)].map(([found]) => found);
  return [
    ...strangers,
    ...missing.map(([found]) => found),
    ...documents.filter((file) => !existsSync(path.join(checkoutDir, file))),
  ];
}

/** The anchor that GitHub makes for a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

function linkFaults(file: string): string[] {
  const prose = read(file).replaceAll(/^```[^]*?^```$/gm, '');
  return (
    [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !/^[a-z]+:/.test(target))
      // A guide's link that starts with `/` is left out, because it is a path of the gateway. The
      // gateway's tests check that the gateway serves this path.
      .filter((target) => !(file.startsWith('services/gateway/guides/') && target.startsWith('/')))
      .filter((target) => {
        const [relative = '', anchor] = target.split('#');
        const linked = relative === '' ? file : path.join(path.dirname(file), relative);
        if (!existsSync(path.join(checkoutDir, linked))) return true;
        if (anchor === undefined) return false;
        const headings = [...read(linked).matchAll(/^#+ (.*)$/gm)].map(([, text = '']) => text);
        return !headings.map(anchorOf).includes(anchor);
      })
  );
}

test('the contract has its sections, each once and in order', () => {
  expect([...sections.keys()]).toStrictEqual(Array.from({ length: 13 }, (_, number) => number));
});

it('every file cites sections of the contract, decisions and documents that exist', () => {
  const faults = files
    .filter((file) => file !== contractFile)
    .map((file) => ({ file, text: read(file) }))
    .flatMap(({ file, text }) =>
      [...contractFaults(text), ...otherFaults(text)].map((fault) => `${file}: ${fault}`),
    );
  expect(faults).toStrictEqual([]);
  expect(files.length).toBeGreaterThan(700);
});

it.each(files.filter((file) => file.endsWith('.md')))('%s links to what exists', (file) => {
  expect(linkFaults(file)).toStrictEqual([]);
});

test.each([
  'CONTRACT 13',
  'CONTRACT 7 and 99',
  'CONTRACT section 7',
  'CONTRACT.md section 7',
  'see CONTRACT\n * 7',
  'CONTRACT 7, "Slot machines"',
])('a wrong citation is found: %j', (text) => {
  expect(contractFaults(text)).toHaveLength(1);
});

test.each(['SPEC 4.1', 'DESIGN.md', 'decision 999', 'docs/decisions/0999', 'docs/NOTHING.md'])(
  'a wrong reference is found: %j',
  (text) => {
    expect(otherFaults(text)).toHaveLength(1);
  },
);

test('right citations pass', () => {
  const text = 'CONTRACT 7, "Slots": CONTRACT 2, 5 and 8 (CONTRACT 1 to 3), docs/CONTRACT.md';
  expect(contractFaults(`${text}, \`docs/CONTRACT.md\``)).toStrictEqual([]);
});
