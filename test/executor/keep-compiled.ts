import { flushCompileCache } from 'node:module';

/**
 * Writes the compile cache every second. Node itself writes it only at a normal exit, which a
 * killed agent does not reach.
 */
setInterval(flushCompileCache, 1_000).unref();
