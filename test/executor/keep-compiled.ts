import { flushCompileCache } from 'node:module';

/**
 * Writes the compile cache every second. Node writes it only when a process exits. After a kill,
 * the next agent would compile all modules again, which costs 0.5 s of CPU.
 */
setInterval(flushCompileCache, 1_000).unref();
