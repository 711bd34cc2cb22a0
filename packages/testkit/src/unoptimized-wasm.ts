import v8 from 'node:v8';

/**
 * A budget that no process uses up, so V8 never optimizes WebAssembly. Prisma's query compiler is
 * WebAssembly, and its optimization takes 0.25 s of CPU. This is more than it saves in a test.
 */
const callsBeforeOptimizing = 2_000_000_000;

v8.setFlagsFromString(`--wasm-tiering-budget=${callsBeforeOptimizing}`);
