/** Installs the hooks, then loads the product. See command.ts for the command itself. */
await import('./host/hooks.ts');
const { interleave } = await import('./command.ts');
process.exitCode = await interleave(process.argv.slice(2));
