import { Type } from 'typebox';
import { commonConfig } from './config.ts';
import { failpoint } from './failpoints.ts';
import { CannotStart, runMain } from './run-main.ts';

await runMain({
  service: 'example',
  config: Type.Object({ ...commonConfig, EXAMPLE_BEHAVIOUR: Type.String() }),
  async run(config, { logger }) {
    const behaviour = config.EXAMPLE_BEHAVIOUR;
    if (behaviour === 'cannot-start') throw new CannotStart('the schema is not known');
    if (behaviour === 'failpoint') {
      process.on('message', (message) => {
        if (message === 'pass twice') void passTwice().then(() => logger.info('passed'));
      });
    }
    if (behaviour === 'warn-and-die') {
      logger.info('before');
      logger.warn('worse');
      process.kill(process.pid, 'SIGKILL');
    }
    if (behaviour === 'talk') setTimeout(() => logger.info('by the way'), 5);
    const timer = setInterval(() => {
      if (behaviour === 'crash') throw new Error('broken invariant');
    }, 5);
    return {
      port: 1,
      adminPort: 2,
      async close() {
        clearInterval(timer);
        logger.info('closed');
      },
    };
  },
});

async function passTwice(): Promise<void> {
  await failpoint('example.point');
  await failpoint('example.point');
}
