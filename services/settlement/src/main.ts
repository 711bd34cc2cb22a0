import { runMain } from '@svc/runtime';
import { settlementConfig } from './config.ts';
import { run } from './run.ts';

await runMain({ service: 'settlement', config: settlementConfig, run });
