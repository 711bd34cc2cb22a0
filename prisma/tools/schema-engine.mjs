#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
/**
 * Replaces Prisma's native schema engine, which is downloaded from a host that is not a package
 * registry. It has the same commands and the same JSON-RPC over standard input and output. The
 * WebAssembly build of the engine, an npm package, answers them. With it `prisma migrate
 * diff|dev|status|deploy` work wherever npm works (prisma/prisma.config.ts names this file). It is
 * a tool for authors of the schema. A running system is migrated by `svc migrate`.
 */
import { version } from '@prisma/schema-engine-wasm';
import { parseArguments } from './engine-arguments.mjs';
import { runDatabaseCommand } from './engine-databases.mjs';
import { serve } from './engine-rpc.mjs';

const words = parseArguments(process.argv.slice(2));
if (words.isVersionAsked) process.stdout.write(`schema-engine-cli ${version()}\n`);
else if (words.command[0] === 'cli') await runDatabaseCommand(words.command[1], words.databaseUrl);
else await serve(words);
