import { driveClosed } from './closed-loop.ts';
import type { Load, LoadResult } from './messages.ts';
import { driveOpen } from './open-loop.ts';

/**
 * The driver is a separate process, so the CPU of the gateways does not include that of the driver.
 * It sends only what a correct client sends. Only a 201 is a success.
 */

function drive(load: Load): Promise<LoadResult> {
  const { pace } = load;
  switch (pace.kind) {
    case 'closed':
      return driveClosed(load, pace);
    case 'open':
      return driveOpen(load, pace);
  }
}

process.on('message', (load: Load) => {
  drive(load).then(
    (result) => process.send?.(result),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit(0));
process.stdout.write(`${JSON.stringify({ msg: 'ready' })}\n`);
