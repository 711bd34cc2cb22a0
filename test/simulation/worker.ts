import { newId } from '@svc/runtime';
import { createSealer, openKeyring } from '@svc/signing';
import { openStore } from '@svc/store';
import type { Reply, Request } from './operations.ts';
import { perform } from './perform.ts';

/**
 * This worker process performs the operations that it receives. The simulation may kill the worker
 * during an operation.
 */
const store = openStore({
  databaseUrl: process.env['DATABASE_URL'] ?? '',
  sealer: createSealer(openKeyring(process.env['SVC_MASTER_KEY'] ?? '')),
  newId,
  applicationName: process.env['SIMULATION_NAME'] ?? 'simulation',
});

function reply(message: Reply): void {
  process.send?.(message);
}

process.on('message', ({ id, operation }: Request) => {
  perform(store, operation).then(
    (outcome) => reply({ id, outcome }),
    (error: unknown) => reply({ id, error: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
