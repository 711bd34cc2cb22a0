import { commonConfig } from '@svc/runtime';
import { Type, type Static } from 'typebox';

/** The settlement worker's configuration: what every service takes (CONTRACT section 9). */
export const settlementConfig = Type.Object(commonConfig);
export type SettlementConfig = Static<typeof settlementConfig>;
