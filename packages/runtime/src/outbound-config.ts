import { parseCidrList } from '@svc/domain';
import { Type } from 'typebox';
import { ConfigError } from './config.ts';

const description =
  'CIDR blocks that the service never connects to for a tenant, at most 1000, separated by commas, such as 203.0.112.0/24,2a00:1450::/32';

/** The variable of every process with an `OutboundHttp` (CONTRACT 6 and 9). */
export const outboundConfig = {
  OUTBOUND_DENY_CIDRS: Type.Optional(Type.String({ description })),
};

/** Throws `ConfigError` if `OUTBOUND_DENY_CIDRS` is no list of CIDR blocks. */
export function deniedCidrsOf(config: {
  readonly OUTBOUND_DENY_CIDRS?: string | undefined;
}): readonly string[] {
  const blocks = parseCidrList(config.OUTBOUND_DENY_CIDRS ?? '');
  if (blocks !== undefined) return blocks;
  throw new ConfigError(
    'OUTBOUND_DENY_CIDRS must be a list of CIDR blocks, at most 1000, separated by commas. No bit may be set after the prefix. Example: 203.0.112.0/24,2a00:1450::/32.',
  );
}
