import { at, type CheckCase } from './check-case.fixture.ts';

export const tenantChecks: readonly CheckCase[] = [
  {
    table: 'tenants',
    check: 'tenants_name_length',
    accepts: [{ name: 'a' }, { name: 'a'.repeat(128) }],
    refuses: [{ name: '' }, { name: 'a'.repeat(129) }],
  },
  {
    table: 'tenants',
    check: 'tenants_rate_limit',
    accepts: [{ rate_limit_per_second: 1, rate_limit_burst: 1 }],
    refuses: [
      { rate_limit_per_second: 0, rate_limit_burst: 1 },
      { rate_limit_per_second: 1, rate_limit_burst: 0 },
    ],
  },
  {
    table: 'tenants',
    check: 'tenants_rebate',
    accepts: [{ rebate_millionths: 0 }, { rebate_millionths: 1_000_000 }],
    refuses: [{ rebate_millionths: -1 }, { rebate_millionths: 1_000_001 }],
  },
  {
    table: 'tenants',
    check: 'tenants_webhook_disabled',
    accepts: [
      { webhook_disabled_at: null, webhook_disabled_reason: null },
      { webhook_disabled_at: at, webhook_disabled_reason: 'gone' },
    ],
    refuses: [
      { webhook_disabled_at: at, webhook_disabled_reason: null },
      { webhook_disabled_at: null, webhook_disabled_reason: 'gone' },
    ],
  },
  {
    table: 'tenants',
    check: 'tenants_webhook_endpoint_count',
    accepts: [{ webhook_endpoint_count: 0 }, { webhook_endpoint_count: 5 }],
    refuses: [{ webhook_endpoint_count: -1 }, { webhook_endpoint_count: 6 }],
  },
  {
    table: 'tenant_secrets',
    check: 'tenant_secrets_kind',
    accepts: [{ kind: 'hmac' }, { kind: 'webhook' }, { kind: 'key' }],
    refuses: [{ kind: 'node' }],
  },
  {
    table: 'tenant_secrets',
    check: 'tenant_secrets_scopes',
    accepts: [
      { kind: 'hmac', scopes: null },
      { kind: 'key', scopes: '{read}' },
      { kind: 'key', scopes: '{read,spend,settings}' },
    ],
    refuses: [
      { kind: 'hmac', scopes: '{read}' },
      { kind: 'key', scopes: null },
      { kind: 'key', scopes: '{}' },
      { kind: 'key', scopes: '{read,admin}' },
    ],
  },
  {
    table: 'tenant_secrets',
    check: 'tenant_secrets_addresses',
    accepts: [
      { kind: 'hmac', addresses: null },
      { kind: 'key', addresses: '{}' },
      { kind: 'key', addresses: `{${Array.from({ length: 20 }, () => '192.0.2.0/24').join()}}` },
    ],
    refuses: [
      { kind: 'webhook', addresses: '{}' },
      { kind: 'key', addresses: null },
      { kind: 'key', addresses: '{NULL}' },
      { kind: 'key', addresses: `{${Array.from({ length: 21 }, () => '192.0.2.0/24').join()}}` },
    ],
  },
];
