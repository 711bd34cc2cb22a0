import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import { SchemaEngine } from '@prisma/schema-engine-wasm';
import { adapterFactory } from './engine-adapter.mjs';
import { createDatabase } from './engine-databases.mjs';
import { logLine } from './engine-log.mjs';

const errorCode = 4466;
const panicExitCode = 101;
/** The CLI numbers its own requests from 1. */
let lastPrintId = 1_000_000;

/** The place where the WebAssembly build stores the message of a panic. */
let panicMessage = '';
globalThis.PRISMA_WASM_PANIC_REGISTRY = {
  get: () => panicMessage,
  set_message: (message) => (panicMessage = `RuntimeError: ${message}`),
};

const write = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

/**
 * Answers the CLI's requests, one after another, until its input ends.
 *
 * @param {{ datamodels: string[], databaseUrl: string | undefined }} words
 */
export async function serve(words) {
  let pendingId;
  process.on('uncaughtException', (error) => {
    // After a panic the request's promise stays pending. Answer it and exit like the native engine.
    panicMessage ||= String(error?.stack ?? error);
    if (pendingId !== undefined) write({ id: pendingId, error: describe(error) });
    logLine('ERROR', { is_panic: true, message: panicMessage });
    process.exit(panicExitCode);
  });
  let engine;
  const getEngine = () => (engine ??= openEngine(words));
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, method, params } = JSON.parse(line);
    // A message without a method is the CLI's answer to a `print` request.
    if (method === undefined) continue;
    pendingId = id;
    try {
      write({ id, result: await answer(method, params, getEngine, words.databaseUrl) });
    } catch (error) {
      write({ id, error: describe(error) });
    }
    pendingId = undefined;
  }
}

function openEngine({ datamodels, databaseUrl }) {
  const files = datamodels.map((file) => [file, readFileSync(file, 'utf8')]);
  return SchemaEngine.new(
    { datamodels: files.length > 0 ? files : undefined },
    (line) => process.stderr.write(`${line}\n`),
    bindMigrationAwareSqlAdapterFactory(adapterFactory(databaseUrl)),
  );
}

async function answer(method, params, getEngine, databaseUrl) {
  if (method === 'createDatabase') return createDatabase(params.datasource.url ?? databaseUrl);
  const engine = await getEngine();
  if (method === 'getDatabaseVersion') return engine.version(params);
  if (typeof engine[method] !== 'function') throw new Error(`the engine has no method ${method}`);
  const result = (await engine[method](params)) ?? null;
  if (method !== 'diff' || !result?.stdout) return result;
  // The native engine prints by a request to the CLI.
  lastPrintId += 1;
  write({ id: lastPrintId, method: 'print', params: { content: result.stdout } });
  return { ...result, stdout: null };
}

function describe(error) {
  const data =
    panicMessage === ''
      ? {
          is_panic: false,
          message: error?.message ?? String(error),
          meta: error?.meta ?? null,
          ...(error?.code ? { error_code: error.code } : {}),
        }
      : { is_panic: true, message: panicMessage, backtrace: error?.stack ?? null };
  return { code: errorCode, message: 'An error happened. Check the data field for details.', data };
}
