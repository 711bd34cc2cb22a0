import { commonConfig, port } from '@svc/runtime';
import { Type, type Static } from 'typebox';

export const gatewayConfig = Type.Object({
  ...commonConfig,
  GATEWAY_PORT: port(8080, 'the port of the tenant API, 0 for any'),
  SOLANA_RAIL_ENABLED: Type.Literal('false', {
    default: 'false',
    description: 'false: the Solana rail is not built yet (CONTRACT section 8)',
  }),
});
export type GatewayConfig = Static<typeof gatewayConfig>;
