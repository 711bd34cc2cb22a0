import v8 from 'node:v8';

/**
 * Keeps V8 from optimizing WebAssembly in this process. A process of a test ends before the
 * optimized code of Prisma's query compiler has repaid the 0.25 s of CPU that it takes to compile.
 */
const callsBeforeOptimizing = 2_000_000_000;

v8.setFlagsFromString(`--wasm-tiering-budget=${callsBeforeOptimizing}`);
