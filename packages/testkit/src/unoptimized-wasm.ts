import v8 from 'node:v8';

/**
 * Keeps V8 from optimizing WebAssembly in this process. Optimizing Prisma's query compiler takes
 * 0.25 s of CPU. A process of a test ends before the optimized code saves that much.
 */
const callsBeforeOptimizing = 2_000_000_000;

v8.setFlagsFromString(`--wasm-tiering-budget=${callsBeforeOptimizing}`);
