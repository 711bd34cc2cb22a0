import type { ServiceName } from '@svc/local';
import type { loadConfig } from '@svc/runtime';
import { dispatcherConfig } from '../../services/dispatcher/src/config.ts';
import { gatewayConfig } from '../../services/gateway/src/config.ts';
import { settlementConfig } from '../../services/settlement/src/config.ts';
import { webhooksConfig } from '../../services/webhooks/src/config.ts';

export const serviceConfigs: Record<ServiceName, Parameters<typeof loadConfig>[0]> = {
  gateway: gatewayConfig,
  dispatcher: dispatcherConfig,
  settlement: settlementConfig,
  webhooks: webhooksConfig,
};
