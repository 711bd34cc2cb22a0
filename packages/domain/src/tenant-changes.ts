/**
 * The changes that a tenant can list (CONTRACT 12). The action of a change in the audit log is
 * mapped to its name on the wire.
 */
export const tenantChangeNames = {
  'tenant.update': 'settings.updated',
  'tenant.rotate_secret': 'secret.rotated',
  'key.create': 'key.created',
  'key.delete': 'key.deleted',
  'endpoint.create': 'endpoint.created',
  'endpoint.update': 'endpoint.updated',
  'endpoint.delete': 'endpoint.deleted',
  'endpoint.rotate_secret': 'endpoint.secret_rotated',
} as const satisfies Readonly<Record<string, string>>;

export type TenantAction = keyof typeof tenantChangeNames;
export type TenantChangeName = (typeof tenantChangeNames)[TenantAction];

function isTenantAction(action: string): action is TenantAction {
  return Object.hasOwn(tenantChangeNames, action);
}

export const tenantActions: readonly TenantAction[] =
  Object.keys(tenantChangeNames).filter(isTenantAction);
