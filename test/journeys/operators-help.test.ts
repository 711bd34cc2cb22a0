import { expect, test } from 'vitest';
import { bareEnvironment } from '@svc/testkit';
import { svcOn } from '../support/svc.ts';

/** CONTRACT.md section 9, to the letter: what is in it must be in `svc`. */
const contract = `
svc tenant create --name N [--allow T|none]... [--webhook-url U] [--grant N] → tenantId, hmacSecret, webhookSecret
svc tenant list|show|disable|enable
svc tenant update TENANT [--allow T]... [--webhook-url U] [--rate R --burst B] [--rebate PERCENT] [--low-balance N]
svc tenant rotate-secret TENANT (--hmac|--webhook) [--overlap 24h] [--force]
svc credits grant TENANT CREDITS --reference R [--usd X]      svc credits reverse PURCHASE
svc credits pay-rebate TENANT                                 svc credits balance TENANT
svc operator create --name N                                  → operatorId, operatorSecret
svc operator list|disable|rotate-secret                       svc audit list
svc node create --name N                                      → nodeId, nodeSecret
svc node list|show|drain|disable|rotate-secret                svc submission list|show|cancel
svc webhook list|show|redeliver|recover --since T
svc rate-card show|apply FILE|history [--tenant T]            (FILE: JSON as \`GET /v1/rate-card\` gives it)
svc surge show|pin X|auto             svc queue status | pause|resume|retry-failed QUEUE
svc ledger verify                     svc trace SUBMISSION
svc status [--watch]                  svc migrate             svc master-key rotate
`;

interface Listed {
  readonly words: string[];
  readonly options: string[];
  readonly takesArgument: boolean;
}

/** Where no argument is shown, these take the id (CONTRACT.md section 9). */
const takeTheId = [
  'show',
  'update',
  'disable',
  'enable',
  'drain',
  'cancel',
  'redeliver',
  'rotate-secret',
  // `QUEUE` is written behind the last of the three.
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
      // What is left are words, what they take, and bars between commands.
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

/** `--since T` is written behind the last of several commands, and meant for it alone. */
function belongs(first: string, name: string, option: string): boolean {
  return first !== 'webhook' || name === 'recover' || option !== '--since';
}

const svc = svcOn({ databaseUrl: 'postgresql://postgres@127.0.0.1:1/none', redisUrl: '' });
const listed = commandsOf(contract);

test('the list of the contract is read as it is meant', () => {
  expect(listed.map(({ words }) => words.join(' ')).toSorted()).toEqual(
    [
      ...['create', 'list', 'show', 'disable', 'enable', 'update', 'rotate-secret'].map(
        (name) => `tenant ${name}`,
      ),
      ...['grant', 'reverse', 'pay-rebate', 'balance'].map((name) => `credits ${name}`),
      ...['create', 'list', 'disable', 'rotate-secret'].map((name) => `operator ${name}`),
      'audit list',
      ...['create', 'list', 'show', 'drain', 'disable', 'rotate-secret'].map(
        (name) => `node ${name}`,
      ),
      ...['list', 'show', 'cancel'].map((name) => `submission ${name}`),
      ...['list', 'show', 'redeliver', 'recover'].map((name) => `webhook ${name}`),
      ...['show', 'apply', 'history'].map((name) => `rate-card ${name}`),
      ...['show', 'pin', 'auto'].map((name) => `surge ${name}`),
      ...['status', 'pause', 'resume', 'retry-failed'].map((name) => `queue ${name}`),
      'ledger verify',
      'trace',
      'status',
      'migrate',
      'master-key rotate',
    ].toSorted(),
  );
});

test.each(listed)('svc $words is there, with its options, --json and examples', async (command) => {
  const { code, stdout } = await svc.run([...command.words, '--help'], bareEnvironment());
  expect(code).toBe(0);
  const usage = stdout.split('\n')[0] ?? '';
  expect(usage).toContain(`svc ${command.words.join(' ')}`);
  expect(/<[a-zA-Z]+>/.test(usage)).toBe(command.takesArgument);
  for (const option of [...command.options, '--json']) expect(stdout).toContain(option);
  expect(stdout).toMatch(/Examples?:\n {2}\$ /);
});
