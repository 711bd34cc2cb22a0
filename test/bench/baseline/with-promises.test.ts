import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { expect, test } from 'vitest';

const checkout = path.resolve(import.meta.dirname, '../../..');
const patch = path.join(import.meta.dirname, 'with-promises.patch');

const apply = () =>
  execFileSync('git', ['apply', '--check', patch], { cwd: checkout, stdio: 'pipe' });

test('the patch that adds the promises of the product to the baseline fits the baseline', () => {
  expect(apply).not.toThrow();
});
