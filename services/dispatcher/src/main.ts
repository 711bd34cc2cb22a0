import { runMain } from '@svc/runtime';
import { dispatcherConfig } from './config.ts';
import { run } from './run.ts';

await runMain({ service: 'dispatcher', config: dispatcherConfig, run });
