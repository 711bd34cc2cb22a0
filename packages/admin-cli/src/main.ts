#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import { runSvc } from './run-svc.ts';

// The compile cache makes later starts of `svc` faster.
enableCompileCache();
// A closed pipe, as in `svc … | head`, is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

await runSvc(process.argv.slice(2));
