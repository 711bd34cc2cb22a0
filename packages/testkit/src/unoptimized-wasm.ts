import v8 from 'node:v8';

/**
 * A budget that no process uses up, so V8 never optimizes WebAssembly. Prisma's query compiler is
 * WebAssembly. V8 would take 0.25 s of CPU to optimize it, but a test would save less CPU than
 * that.
 */
const callsBeforeOptimizing = 2_000_000_000;

v8.setFlagsFromString(`--wasm-tiering-budget=${callsBeforeOptimizing}`);
