import {
  deliveryRetentionDaysDefault,
  payloadRetentionDaysDefault,
  retentionDaysMin,
  rpcCallsPerSecondDefault,
  usageRetentionDaysDefault,
} from '@svc/domain';
import { commonConfig, solanaConfig } from '@svc/runtime';
import { Type, type Static } from 'typebox';

/** The settlement worker's configuration (CONTRACT 9). */
export const settlementConfig = Type.Object({
  ...commonConfig,
  ...solanaConfig,
  SOLANA_RPC_PER_SECOND: Type.Integer({
    minimum: 1,
    maximum: 1_000,
    default: rpcCallsPerSecondDefault,
    description: 'the most calls of the Solana RPC server in a second',
  }),
  PAYLOAD_RETENTION_DAYS: Type.Integer({
    minimum: 1,
    maximum: 3_650,
    default: payloadRetentionDaysDefault,
    description:
      'days after which an ended submission loses its payload and the texts of its node, 1 to 3650',
  }),
  USAGE_RETENTION_DAYS: Type.Integer({
    minimum: retentionDaysMin,
    maximum: 3_650,
    default: usageRetentionDaysDefault,
    description: 'days after which usage reports are dropped, by whole months, 30 to 3650',
  }),
  DELIVERY_RETENTION_DAYS: Type.Integer({
    minimum: retentionDaysMin,
    maximum: 3_650,
    default: deliveryRetentionDaysDefault,
    description:
      'days after which deliveries, their attempts and their events are dropped, by whole months, 30 to 3650',
  }),
});
export type SettlementConfig = Static<typeof settlementConfig>;
