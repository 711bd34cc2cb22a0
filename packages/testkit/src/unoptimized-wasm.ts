import v8 from 'node:v8';

/**
 * A budget that no process uses up, so V8 never optimizes WebAssembly. Optimizing Prisma's query
 * compiler takes 0.25 s of CPU, more than a test would save.
 */
const callsBeforeOptimizing = 2_000_000_000;

v8.setFlagsFromString(`--wasm-tiering-budget=${callsBeforeOptimizing}`);
