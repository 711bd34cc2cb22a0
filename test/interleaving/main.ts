import './host/hooks.ts';

/** The product is loaded after the hooks are there: see command.ts for what this does. */
const { interleave } = await import('./command.ts');
process.exitCode = await interleave(process.argv.slice(2));
