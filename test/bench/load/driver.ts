import { driveClosed } from './closed-loop.ts';
import type { Load, LoadResult } from './messages.ts';
import { driveOpen } from './open-loop.ts';

/**
 * The process that sends the requests of each `Load`. Its CPU is not part of the measured CPU of
 * the product or the baseline.
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
