import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

/** Rules of docs/STYLE.md that a regular expression can check. */

interface Rule {
  readonly name: string;
  readonly files: RegExp;
  readonly except: readonly string[];
  readonly refused: RegExp;
  /** A line that breaks the rule. */
  readonly sample: string;
}

const product = /^(?:packages\/(?!testkit)|services\/)(?!.*[.](?:test|fixture)[.]ts$).*[.]ts$/u;
const tests = /[.]test[.]ts$/u;

const rules: readonly Rule[] = [
  {
    name: 'domain, contracts and signing get clock and randomness as arguments',
    files: /^packages\/(?:domain|contracts|signing)\/src\/(?!.*[.]test[.]ts$)/u,
    except: [],
    refused: /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bperformance\./u,
    sample: 'const now = Date.now();',
  },
  {
    name: 'only the starts of programs read the environment',
    files: product,
    except: [
      'packages/runtime/src/run-main.ts',
      'packages/admin-cli/src/context.ts',
      'packages/admin-cli/src/commands/migrate.ts',
      'packages/node-agent/src/options.ts',
      'packages/client/src/cli/run.ts',
      // This file contains the text of a program that the sign-up page shows to tenants.
      'services/gateway/src/signup/first-steps.ts',
    ],
    refused: /\bprocess\.env\b/u,
    sample: "const url = process.env['DATABASE_URL'];",
  },
  {
    name: 'exports have names',
    files: product,
    except: [],
    refused: /^export default\b/mu,
    sample: 'export default function run() {}',
  },
  {
    name: 'tests do not sleep: they move the clock or wait for an event',
    files: tests,
    except: [],
    refused: /from 'node:timers\/promises'|\bsleep\(/u,
    sample: "import { setTimeout as sleep } from 'node:timers/promises';",
  },
  {
    name: 'tests mock no module of ours and no library',
    files: tests,
    except: [],
    refused: /\bvi\.mock\('(?!node:)/u,
    sample: "vi.mock('@svc/store');",
  },
];

const checkoutDir = path.resolve(import.meta.dirname, '../..');
const self = path.relative(checkoutDir, import.meta.filename);
const files = execFileSync('git', ['ls-files', '*.ts'], { cwd: checkoutDir, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && file !== self);
const sources = new Map(
  files.map((file) => [file, readFileSync(path.join(checkoutDir, file), 'utf8')]),
);

test.each(rules)('$name', ({ files: where, except, refused }) => {
  const inForce = files.filter((file) => where.test(file));
  expect(inForce.length).toBeGreaterThan(20);
  const found = inForce.filter((file) => refused.test(sources.get(file) ?? ''));
  expect(found.toSorted()).toEqual(except.toSorted());
});

test.each(rules)('a file that breaks the rule is found: $name', ({ refused, sample }) => {
  expect(sample).toMatch(refused);
});
