/** The hooks come first, then the product is loaded. See command.ts for what this does. */
await import('./host/hooks.ts');
const { interleave } = await import('./command.ts');
process.exitCode = await interleave(process.argv.slice(2));
