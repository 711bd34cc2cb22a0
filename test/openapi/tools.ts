import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';

/**
 * `pnpm openapi:tools`: two linters without warnings, and three generators whose clients pass a type
 * checker. npx and pip fetch the tools, because they are large and only this command needs them.
 */

const checkoutDir = path.resolve(import.meta.dirname, '../..');
const dir = path.join(checkoutDir, '.local/cache/openapi-tools');
const document = path.join(dir, 'v1.json');
const failed: string[] = [];

/** Runs a command in `dir`. Its output goes to the terminal. */
function step(name: string, command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  process.stdout.write(`\n${name}\n`);
  const { status } = spawnSync(command, args, {
    cwd: dir,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  process.stdout.write(`${name}: ${status === 0 ? 'succeeded' : 'failed'}\n`);
  if (status !== 0) failed.push(name);
}

const npx = (name: string, args: readonly string[]) => step(name, 'npx', ['--yes', ...args]);
const tsc = path.join(checkoutDir, 'node_modules/.bin/tsc');

/** Uses of the generated types. A value that the document does not list must be accepted. */
const typescriptUse = `import type { components, paths } from './openapi-typescript.ts';
import type { Submission } from './hey-api/index.ts';
export const ours: components['schemas']['Submission']['status'] = 'added_later';
export const theirs: Submission['status'] = 'added_later';
type Conflict = NonNullable<
  paths['/v1/submissions/{id}/cancel']['post']['responses'][409]
>['content']['application/problem+json'];
export const conflict: Conflict['code'] = 'added_later';
`;

const pythonUse = `from submission_service_client.models import Problem, SubmissionFailure

failure = SubmissionFailure.from_dict(
    {"code": "added_later", "message": "m", "retriable": False, "outcomeUnknown": False}
)
assert failure.code == "added_later", failure
problem = {"type": "t", "title": "t", "status": 402, "detail": "d", "code": "added_later", "requestId": "r"}
assert Problem.from_dict(problem).code == "added_later"
`;

rmSync(dir, { recursive: true, force: true });
mkdirSync(dir, { recursive: true });
cpSync(path.join(checkoutDir, 'packages/contracts/openapi/v1.json'), document);

const redocly = path.join(import.meta.dirname, 'redocly.yaml');
npx('Redocly', ['@redocly/cli@2.77.0', 'lint', document, '--config', redocly]);
const spectral = path.join(import.meta.dirname, 'spectral.yaml');
npx('Spectral', [
  '@stoplight/spectral-cli@6.16.3',
  'lint',
  document,
  '--ruleset',
  spectral,
  '--fail-severity=hint',
]);

npx('openapi-typescript', ['openapi-typescript@7.13.0', document, '-o', 'openapi-typescript.ts']);
npx('hey-api', [
  '--package=@hey-api/openapi-ts@0.99.0',
  '--package=typescript@5.9.3',
  'openapi-ts',
  '-i',
  document,
  '-o',
  'hey-api',
]);
writeFileSync(path.join(dir, 'use.ts'), typescriptUse);
writeFileSync(
  path.join(dir, 'tsconfig.json'),
  JSON.stringify({
    compilerOptions: {
      strict: true,
      noEmit: true,
      target: 'es2022',
      module: 'esnext',
      moduleResolution: 'bundler',
      lib: ['es2023', 'dom', 'dom.iterable'],
      types: [],
      allowImportingTsExtensions: true,
      skipLibCheck: true,
    },
    include: ['use.ts', 'openapi-typescript.ts', 'hey-api'],
  }),
);
step('The types of openapi-typescript and hey-api', tsc, ['-p', '.']);

const python = path.join(dir, 'python');
const inPython = (name: string) => path.join(python, 'bin', name);
step('Python', process.env['PYTHON'] ?? 'python3', ['-m', 'venv', python]);
step('pip', inPython('pip'), [
  'install',
  '--quiet',
  'openapi-python-client==0.29.1',
  'mypy==1.19.1',
]);
step(
  'openapi-python-client',
  inPython('openapi-python-client'),
  [
    ['generate', '--fail-on-warning'],
    ['--path', document, '--output-path', 'python-client'],
    ['--config', path.join(import.meta.dirname, 'python-client.yaml')],
  ].flat(),
  { PATH: `${path.join(python, 'bin')}:${process.env['PATH']}` },
);
writeFileSync(path.join(dir, 'python-client/use.py'), pythonUse);
// The generator omits an import if a body has two media types, as that of the sign-up has.
step('mypy', inPython('mypy'), [
  '--exclude',
  'sign_up',
  '--follow-imports=silent',
  'python-client/submission_service_client',
  'python-client/use.py',
]);
step('The Python client with a code that is added later', inPython('python'), [
  'python-client/use.py',
]);

process.stdout.write(
  failed.length === 0 ? '\nAll succeeded.\n' : `\nFailed: ${failed.join(', ')}\n`,
);
process.exitCode = failed.length === 0 ? 0 : 1;
