import {
  deletionBatchMaxDefault,
  deliveryRetentionDaysDefault,
  payloadRetentionDaysDefault,
  retentionDaysMin,
  rpcCallsPerSecondDefault,
  settlementConcurrencyDefault,
  usageRetentionDaysDefault,
} from '@svc/domain';
import { commonConfig, outboundConfig, solanaConfig } from '@svc/runtime';
import { Type, type Static } from 'typebox';

/** The configuration of the service `settlement` (CONTRACT 9). */
export const settlementConfig = Type.Object({
  ...commonConfig,
  ...outboundConfig,
  ...solanaConfig,
  SOLANA_RPC_PER_SECOND: Type.Integer({
    minimum: 1,
    maximum: 1_000,
    default: rpcCallsPerSecondDefault,
    description: 'the most calls to the Solana RPC server in a second, 1 to 1000',
  }),
  SETTLEMENT_CONCURRENCY: Type.Integer({
    minimum: 1,
    maximum: 256,
    default: settlementConcurrencyDefault,
    description: 'the most jobs of the settlement queue that the process runs at once, 1 to 256',
  }),
  DELETION_BATCH_MAX: Type.Integer({
    minimum: 10,
    maximum: 10_000,
    default: deletionBatchMaxDefault,
    description:
      'the most submissions whose personal data one transaction deletes, and the most expired events that one transaction deletes, 10 to 10000',
  }),
  PAYLOAD_RETENTION_DAYS: Type.Integer({
    minimum: 1,
    maximum: 3_650,
    default: payloadRetentionDaysDefault,
    description:
      'days from the end of a submission to the deletion of its payload, result and failure message, 1 to 3650',
  }),
  USAGE_RETENTION_DAYS: Type.Integer({
    minimum: retentionDaysMin,
    maximum: 3_650,
    default: usageRetentionDaysDefault,
    description:
      'the fewest days from the creation of a submission to the deletion of its usage reports, 30 to 3650',
  }),
  DELIVERY_RETENTION_DAYS: Type.Integer({
    minimum: retentionDaysMin,
    maximum: 3_650,
    default: deliveryRetentionDaysDefault,
    description:
      'the fewest days from the creation of a delivery or event to its deletion (attempts are kept as long as their delivery), 30 to 3650',
  }),
});
export type SettlementConfig = Static<typeof settlementConfig>;
