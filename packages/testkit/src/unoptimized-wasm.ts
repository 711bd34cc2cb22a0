import v8 from 'node:v8';

/**
 * A budget that no process uses up, so V8 never optimizes WebAssembly. Optimizing is not worth it:
 * it takes 0.25 s of CPU for Prisma's query compiler, and a process of a test ends before it has
 * saved that much.
 */
const callsBeforeOptimizing = 2_000_000_000;

v8.setFlagsFromString(`--wasm-tiering-budget=${callsBeforeOptimizing}`);
