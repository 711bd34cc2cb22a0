import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync } from 'oxc-parser';
import { expect, test } from 'vitest';

/** Checks that product code uses each HTTP client only in its `allowed` files (decision 27). */

const checkoutDir = path.resolve(import.meta.dirname, '../..');
const isTestCode = /[.]test[.]ts$|[.-]fixture[.]ts$|^packages\/testkit\/|\/generated\//;

const allowed: Readonly<Record<string, readonly string[]>> = {
  'node:http': [
    'packages/node-agent/src/executors/browser/egress/fetch-file.ts',
    'packages/node-agent/src/executors/browser/egress/plain-http.ts',
    'packages/node-agent/src/executors/browser/egress/proxy.ts',
    'packages/runtime/src/guarded-agents.ts',
    'packages/runtime/src/outbound-http.ts',
  ],
  fetch: [
    'packages/client/src/cli/context.ts',
    'packages/client/src/cli/forward.ts',
    'packages/client/src/cli/run.ts',
    'packages/client/src/connection.ts',
    'packages/client/src/send.ts',
  ],
  got: ['packages/node-agent/src/doctor/ask-link.ts'],
  other: [],
};

/**
 * The exports of `node:http` and `node:https` that servers need. A file that imports any other
 * export counts as a user of an HTTP client.
 */
const forServers = new Set([
  'createServer',
  'IncomingMessage',
  'RequestListener',
  'Server',
  'ServerResponse',
  'IncomingHttpHeaders',
]);
const otherClients = /^(node:)?http2$|^(undici|axios|ky|node-fetch|superagent)(\/|$)/;

function clientOf(library: string, names: readonly string[]): string[] {
  if (library === 'got') return ['got'];
  if (otherClients.test(library)) return ['other'];
  const isHttp = /^(node:)?https?$/.test(library);
  return isHttp && names.some((name) => !forServers.has(name)) ? ['node:http'] : [];
}

function clientsIn(file: string, text: string): string[] {
  const { module, program } = parseSync(file, text);
  const imported = module.staticImports.flatMap(({ moduleRequest, entries }) =>
    clientOf(
      moduleRequest.value,
      entries.map(({ importName }) => importName.name ?? '*'),
    ),
  );
  const loaded = module.dynamicImports.flatMap(({ moduleRequest: { start, end } }) =>
    clientOf(text.slice(start + 1, end - 1), ['*']),
  );
  let usesFetch = false;
  JSON.stringify(program, (_, node: unknown) => {
    if (typeof node === 'object' && node !== null && 'type' in node && 'name' in node) {
      usesFetch ||= node.type === 'Identifier' && node.name === 'fetch';
    }
    return typeof node === 'bigint' ? String(node) : node;
  });
  return [...new Set([...imported, ...loaded, ...(usesFetch ? ['fetch'] : [])])];
}

test('each HTTP client is used only in the files that may use it', () => {
  const found: Record<string, string[]> = { 'node:http': [], fetch: [], got: [], other: [] };
  const files = globSync('{packages,services,infra}/*/src/**/*.ts', { cwd: checkoutDir });
  for (const file of files.filter((one) => !isTestCode.test(one)).toSorted()) {
    const text = readFileSync(path.join(checkoutDir, file), 'utf8');
    for (const client of clientsIn(file, text)) found[client]?.push(file);
  }
  expect(found).toEqual(allowed);
});

test.each([
  [`import http from 'node:http'; http.get('');`, ['node:http']],
  [`import * as https from 'https';`, ['node:http']],
  [`import { createServer, request } from 'node:https';`, ['node:http']],
  [`const { request } = await import('node:http');`, ['node:http']],
  [`await globalThis.fetch('');`, ['fetch']],
  [`const { fetch: send } = globalThis;`, ['fetch']],
  [`const got = await import('got');`, ['got']],
  [`import { request } from 'undici';`, ['other']],
  [`import { connect } from 'node:http2';`, ['other']],
  [`import { createServer, type IncomingMessage } from 'node:http';`, []],
  [`const text = 'fetch'; // fetch('')`, []],
])('%j uses %j', (code, clients) => {
  expect(clientsIn('sample.ts', code)).toEqual(clients);
});
