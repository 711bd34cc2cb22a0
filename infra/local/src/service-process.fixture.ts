import { spawn } from 'node:child_process';
import { createServer } from 'node:http';

/**
 * A stand-in for a service in tests. The argument selects a behaviour. With `serve`, the stand-in
 * becomes ready and runs until SIGTERM.
 */
const [behaviour] = process.argv.slice(2);
const say = (fields: object) => process.stdout.write(`${JSON.stringify(fields)}\n`);

if (behaviour === 'die-late') {
  const script = "setTimeout(() => console.error('late words'), 300)";
  spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'inherit', 'inherit'] });
  process.exit(1);
}
if (behaviour === 'die') {
  say({ level: 'fatal', msg: 'DATABASE_URL is not set' });
  process.exit(1);
}
if (behaviour === 'parent') {
  const { startServiceProcess } = await import('./service-process.ts');
  const child = await startServiceProcess({
    name: 'grandchild',
    entry: import.meta.filename,
    args: ['deaf'],
    env: process.env,
  });
  say({ msg: 'started', child: child.pid });
}
const server = createServer().listen(0, '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  say({ msg: 'ready', port, adminPort: 1 });
});
process.on('SIGTERM', () => {
  if (behaviour === 'deaf') return;
  say({ msg: 'stopping' });
  process.exit(0);
});
if (behaviour === 'ask') {
  process.on('message', (answer) => say({ msg: 'answered', answer }));
  process.send?.({ question: 1 });
}
