import { readFileSync } from 'node:fs';
import { bareEnvironment } from '@svc/testkit';
import { expect, test } from 'vitest';
import { svcOn } from '../support/svc.ts';

/** The code block of CONTRACT 9 that lists the commands of `svc`. */
const contract = readFileSync('docs/CONTRACT.md', 'utf8')
  .split('```')
  .find((block) => block.startsWith('\nsvc tenant create'));

interface Listed {
  readonly words: string[];
  readonly options: string[];
  readonly takesArgument: boolean;
}

/**
 * A command with one of these names takes an argument, even if CONTRACT 9 lists it without one. The
 * exceptions are `rate-card show` and `surge show`.
 */
const takeTheId = [
  'show',
  'update',
  'disable',
  'enable',
  'drain',
  'cancel',
  'purge',
  'redeliver',
  'rotate-secret',
  // CONTRACT 9 writes `pause|resume|retry-failed QUEUE`. All three commands take the argument
  // QUEUE, but `commandsOf` finds it only after `retry-failed`.
  'pause',
  'resume',
];

function commandsOf(text: string): Listed[] {
  const entries = text.split(/\n|\s{3,}/).map((entry) => entry.trim());
  return entries
    .filter((entry) => entry.startsWith('svc '))
    .flatMap((entry) => {
      const [said = ''] = entry.replaceAll(' | ', '|').split(/ → |\s+\(FILE/);
      const options = said.match(/--[a-z-]+/g) ?? [];
      // `plain` keeps the words, the required arguments, and each `|` between commands.
      const plain = said.replaceAll(/\[[^\]]*\](\.{3})?|\([^)]*\)|--[a-z-]+( [A-Z]+)?/g, '').trim();
      const [, first = '', second = '', ...rest] = plain.split(/ +/);
      if (second === '' || /^[A-Z]/.test(second)) {
        return [{ words: [first], options, takesArgument: second !== '' }];
      }
      const alternatives = [second, ...rest]
        .join(' ')
        .split('|')
        .map((alternative) => alternative.split(' '));
      return alternatives.map(([name = '', argument = '']) => ({
        words: [first, name],
        options: options.filter((option) => belongs(first, name, option)),
        takesArgument:
          /^[A-Z]+$/.test(argument) ||
          (takeTheId.includes(name) && first !== 'rate-card' && first !== 'surge'),
      }));
    });
}

/**
 * CONTRACT 9 writes `--since T` after several commands of `webhook`. Only the last one, `recover`,
 * has the option.
 */
function belongs(first: string, name: string, option: string): boolean {
  return first !== 'webhook' || name === 'recover' || option !== '--since';
}

const svc = svcOn({ databaseUrl: 'postgresql://postgres@127.0.0.1:1/none', redisUrl: '' });
const listed = commandsOf(contract ?? '');

test('the commands of the contract are parsed correctly', () => {
  expect(listed.map(({ words }) => words.join(' ')).toSorted()).toEqual(
    [
      ...['create', 'list', 'show', 'disable', 'enable', 'update', 'rotate-secret'].map(
        (name) => `tenant ${name}`,
      ),
      ...['grant', 'reverse', 'pay-rebate', 'balance'].map((name) => `credits ${name}`),
      ...['create', 'list', 'disable', 'rotate-secret'].map((name) => `operator ${name}`),
      ...['list', 'verify'].map((name) => `audit ${name}`),
      ...['create', 'list', 'show', 'update', 'drain', 'disable', 'enable', 'rotate-secret'].map(
        (name) => `node ${name}`,
      ),
      ...['list', 'show', 'cancel', 'purge'].map((name) => `submission ${name}`),
      ...['list', 'show', 'redeliver', 'recover'].map((name) => `webhook ${name}`),
      ...['show', 'apply', 'history'].map((name) => `rate-card ${name}`),
      ...['list', 'show'].map((name) => `purchase-intent ${name}`),
      ...['status', 'assign'].map((name) => `solana ${name}`),
      ...['show', 'pin', 'auto'].map((name) => `surge ${name}`),
      ...['status', 'pause', 'resume', 'retry-failed'].map((name) => `queue ${name}`),
      'ledger verify',
      'listen',
      'trace',
      'trigger',
      'status',
      'migrate',
      ...['begin', 'status', 'end'].map((name) => `recovery ${name}`),
      'doctor',
      'log-level',
      'master-key rotate',
    ].toSorted(),
  );
});

test.each(listed)('svc $words exists with its options, --json and examples', async (command) => {
  const { code, stdout } = await svc.run([...command.words, '--help'], bareEnvironment());
  expect(code).toBe(0);
  const usage = stdout.split('\n')[0] ?? '';
  expect(usage).toContain(`svc ${command.words.join(' ')}`);
  expect(/<[a-zA-Z]+>/.test(usage)).toBe(command.takesArgument);
  for (const option of [...command.options, '--json']) expect(stdout).toContain(option);
  expect(stdout).toMatch(/Examples?:\n {2}\$ /);
});
