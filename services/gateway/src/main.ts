import { runMain } from '@svc/runtime';
import { gatewayConfig } from './config.ts';
import { run } from './run.ts';

await runMain({ service: 'gateway', config: gatewayConfig, run });
