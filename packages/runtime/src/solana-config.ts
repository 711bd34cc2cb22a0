import { graceMinutesDefault, intentMinutesDefault } from '@svc/domain';
import { Type, type Static, type TObject } from 'typebox';
import { cannotStart } from './run-main.ts';

/**
 * The exit status if a variable that the rail requires is not set, or if the service refuses its
 * value (CONTRACT 8). An invalid value of any other variable gives exit status 1.
 */
export const railRefusedStatus = 2;

const minutesMax = 525_600;

export const solanaConfig = {
  SOLANA_RAIL_ENABLED: Type.Union([Type.Literal('true'), Type.Literal('false')], {
    default: 'false',
    description: 'true to sell credits for USDC on Solana, else false',
  }),
  SOLANA_RECIPIENT: Type.Optional(
    Type.String({ description: 'the address of the wallet that receives USDC, in base58' }),
  ),
  SOLANA_USDC_MINT: Type.Optional(
    Type.String({ description: 'the address of the USDC mint, in base58' }),
  ),
  SOLANA_RPC_URL: Type.Optional(
    Type.String({
      description: 'the URL of a Solana JSON-RPC server; use https outside of your own network',
    }),
  ),
  SOLANA_INTENT_MINUTES: Type.Integer({
    minimum: 1,
    maximum: minutesMax,
    default: intentMinutesDefault,
    description: 'minutes until an unpaid purchase intent expires, 1 to 525600',
  }),
  SOLANA_GRACE_MINUTES: Type.Integer({
    minimum: 1,
    maximum: minutesMax,
    default: graceMinutesDefault,
    description: 'minutes for which an expired purchase intent can still be paid, 1 to 525600',
  }),
};

type SolanaVariables = Static<TObject<typeof solanaConfig>>;

export interface SolanaRail {
  readonly recipient: string;
  readonly mint: string;
  readonly rpcUrl: string;
  readonly intentMinutes: number;
  readonly graceMinutes: number;
}

/**
 * Returns null if the rail is off. Throws `CannotStart` with status 2 if a required variable is not
 * set, or if `SOLANA_RPC_URL` is not an http or https URL.
 */
export function solanaRailOf(config: SolanaVariables): SolanaRail | null {
  if (config.SOLANA_RAIL_ENABLED === 'false') return null;
  const rpcUrl = given(config, 'SOLANA_RPC_URL');
  if (!/^https?:\/\//.test(rpcUrl) || !URL.canParse(rpcUrl)) {
    cannotStart('SOLANA_RPC_URL must be an http or https URL.', railRefusedStatus);
  }
  return {
    recipient: given(config, 'SOLANA_RECIPIENT'),
    mint: given(config, 'SOLANA_USDC_MINT'),
    rpcUrl,
    intentMinutes: config.SOLANA_INTENT_MINUTES,
    graceMinutes: config.SOLANA_GRACE_MINUTES,
  };
}

function given(
  config: SolanaVariables,
  name: 'SOLANA_RECIPIENT' | 'SOLANA_USDC_MINT' | 'SOLANA_RPC_URL',
): string {
  return (
    config[name] ??
    cannotStart(`${name} is not set, but SOLANA_RAIL_ENABLED is true.`, railRefusedStatus)
  );
}
