import { flushCompileCache } from 'node:module';

/**
 * Writes the compile cache every second. Node itself writes it only when a process exits, so an
 * agent that is killed would leave none. The next agent would compile all modules again, which
 * costs 0.5 s of CPU.
 */
setInterval(flushCompileCache, 1_000).unref();
