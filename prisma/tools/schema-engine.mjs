#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
/**
 * Stands in for Prisma's native schema engine, which is fetched from a host of its own: the same
 * words and the same JSON-RPC over standard input and output, answered by the WebAssembly build of
 * the same engine, which is an npm package. With it `prisma migrate diff|dev|status|deploy` work
 * wherever npm does (prisma/prisma.config.ts names this file). A tool for the schema's authors: a
 * running system is migrated by `svc migrate`.
 */
import { version } from '@prisma/schema-engine-wasm';
import { parseArguments } from './engine-arguments.mjs';
import { runDatabaseCommand } from './engine-databases.mjs';
import { serve } from './engine-rpc.mjs';

const words = parseArguments(process.argv.slice(2));
if (words.isVersionAsked) process.stdout.write(`schema-engine-cli ${version()}\n`);
else if (words.command[0] === 'cli') await runDatabaseCommand(words.command[1], words.databaseUrl);
else await serve(words);
