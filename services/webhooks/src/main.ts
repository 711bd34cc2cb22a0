import { runMain } from '@svc/runtime';
import { webhooksConfig } from './config.ts';
import { run } from './run.ts';

await runMain({ service: 'webhooks', config: webhooksConfig, run });
