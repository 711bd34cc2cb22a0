import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { pythonTools } from '../support/python-tools.ts';
import { runAtLiveGateway } from './live-gateway.ts';

/**
 * `pnpm openapi:tools`: Redocly and Spectral check the OpenAPI document. The clients of three
 * generators must pass a type checker and call a live gateway.
 */

const checkoutDir = path.resolve(import.meta.dirname, '../..');
const dir = path.join(checkoutDir, '.local/cache/openapi-tools');
const document = path.join(dir, 'v1.json');
const failed: string[] = [];

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

// npx, npm and pip fetch the tools, which are too large for package.json.
const npx = (name: string, args: readonly string[]) => step(name, 'npx', ['--yes', ...args]);
const bin = (name: string) => path.join(checkoutDir, 'node_modules/.bin', name);

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
cpSync(path.join(import.meta.dirname, 'generated'), dir, { recursive: true });
writeFileSync(path.join(dir, 'package.json'), '{"private":true,"type":"module"}\n');
step('openapi-fetch', 'npm', ['install', '--no-audit', '--no-fund', 'openapi-fetch@0.17.0']);
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
      types: ['node'],
      typeRoots: [path.join(checkoutDir, 'node_modules/@types')],
      allowImportingTsExtensions: true,
      checkJs: true,
      skipLibCheck: true,
    },
    include: ['*.mjs', 'openapi-typescript.ts', 'hey-api'],
  }),
);
step('The types of openapi-typescript and hey-api', bin('tsc'), ['-p', '.']);

const tools = pythonTools('openapi-python', ['openapi-python-client==0.29.1', 'mypy==1.19.1']);
if ('missing' in tools) {
  process.stdout.write(`${tools.missing}\n`);
  failed.push('Python');
}
const inPython = 'missing' in tools ? (name: string) => name : tools.program;
step(
  'openapi-python-client',
  inPython('openapi-python-client'),
  [
    ['generate', '--fail-on-warning'],
    ['--path', document, '--output-path', 'python-client'],
    ['--config', path.join(import.meta.dirname, 'python-client.yaml')],
  ].flat(),
  { PATH: `${path.dirname(inPython('python'))}:${process.env['PATH']}` },
);
cpSync(path.join(dir, 'python_client.py'), path.join(dir, 'python-client/use.py'));
// mypy skips the generated module `sign_up`, which lacks an import. The generator omits an import
// if a request body has two media types, and the body of the sign-up has two.
step('mypy', inPython('mypy'), [
  '--exclude=sign_up',
  '--follow-imports=silent',
  'python-client/submission_service_client',
  'python-client/use.py',
]);

// Node does not resolve the imports of hey-api, because they have no extension. The clients are
// therefore bundled.
for (const name of ['openapi-typescript', 'hey-api']) {
  const words = [`${name}.mjs`, '--platform=node', '--format=esm', '-o', `bundled/${name}.mjs`];
  step(`Bundle ${name}`, bin('rolldown'), words);
}
const calls = [
  `node '${dir}/bundled/openapi-typescript.mjs'`,
  `node '${dir}/bundled/hey-api.mjs'`,
  `'${inPython('python')}' '${dir}/python-client/use.py'`,
];
if (!runAtLiveGateway(['sh', '-ec', calls.join('\n')]))
  failed.push('The calls of the generated clients to a live gateway');

process.stdout.write(
  failed.length === 0
    ? 'openapi:tools: 2 linters and 3 generated clients: PASSED\n'
    : `openapi:tools: ${failed.join(', ')}: FAILED\n`,
);
process.exitCode = failed.length === 0 ? 0 : 1;
