import path from 'node:path';

export const checkoutDir = path.resolve(import.meta.dirname, '../../..');

/**
 * The git-ignored directory of files that later runs use again, such as downloads and Node's
 * compile cache.
 */
export const cacheDir = path.join(checkoutDir, '.local/cache');

/**
 * The variable that switches on Node's compile cache. With a filled cache, the start of a service
 * takes 0.55 s of CPU instead of 0.9 s (measured).
 */
export const compileCache = { NODE_COMPILE_CACHE: path.join(cacheDir, 'compile') };

/**
 * The directory of an embedded stack, with its databases, keys and logs: `SVC_LOCAL_DIR` or
 * `.local`. Stacks that run at the same time need different ones.
 */
export function stateDir(env: NodeJS.ProcessEnv = process.env): string {
  const given = env['SVC_LOCAL_DIR'];
  return given ? path.resolve(checkoutDir, given) : path.join(checkoutDir, '.local');
}

export function inCheckout(...parts: string[]): string {
  return path.join(checkoutDir, ...parts);
}
