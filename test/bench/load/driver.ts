import { driveClosed } from './closed-loop.ts';
import type { Load, LoadResult } from './messages.ts';
import { driveOpen } from './open-loop.ts';

/**
 * The driver. This process sends submissions to the gateways over HTTP, so its CPU is not counted
 * as theirs. It signs every request, sends only what a correct client sends, and counts only 201 as
 * success.
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
