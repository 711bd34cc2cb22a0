import { randomBytes } from 'node:crypto';
import { fromWireId, microsPerCredit, slotsMaxMax, toWireId } from '@svc/domain';
import { newId } from '@svc/runtime';
import { createSealer, newSecret, openKeyring } from '@svc/signing';
import {
  createNode,
  createOperator,
  openStore,
  createTenant,
  rotateTenantSecret,
} from '@svc/store';
import {
  type NewTenant,
  type NodeCredentials,
  type TenantCredentials,
  testMasterKey,
  type TestStack,
  testAuthor,
} from '@svc/testkit';
import { signatureHeaders, type WireRequest } from './wire.ts';

export interface OperatorKey {
  readonly operatorId: string;
  readonly secret: string;
}

/**
 * Creates tenants, operators and nodes in the database of a stack, without a `svc` process for
 * each.
 */
export interface Accounts {
  /** Creates a tenant whose rate limit is far above what tests send. */
  tenant(options?: Partial<NewTenant>): Promise<TenantCredentials>;
  operator(name: string): Promise<OperatorKey>;
  /** Creates a node with the slot limit `slotsMaxMax`, the highest that a node can have. */
  node(name: string): Promise<NodeCredentials>;
  /**
   * Replaces the webhook secret of a tenant, and returns the new secret. The previous secret stays
   * valid for one day.
   */
  rotateWebhookSecret(tenant: TenantCredentials): Promise<string>;
  close(): Promise<void>;
}

const grantedCreditsDefault = 10_000;
const perSecond = 10_000;
const dayMs = 24 * 3_600_000;

export function openAccounts({ databaseUrl, query }: TestStack): Accounts {
  const sealer = createSealer(openKeyring(testMasterKey()));
  const store = openStore({ databaseUrl, sealer, newId });
  return {
    async tenant({
      name = 'Tenant under test',
      webhookUrl = null,
      grantCredits: credits,
      allow,
    } = {}) {
      const id = newId();
      const hmacSecret = newSecret('hsk_test', randomBytes);
      const webhookSecret = newSecret('whsec', randomBytes);
      const allowedJobTypes = [...(allow ?? ['ats.application'])];
      await createTenant(
        store,
        {
          id,
          name,
          allowedJobTypes,
          webhookUrl,
          hmacSecret,
          webhookSecret,
        },
        BigInt(credits ?? grantedCreditsDefault) * microsPerCredit,
        testAuthor,
      );
      await query(
        `UPDATE tenants SET rate_limit_per_second = ${perSecond}, rate_limit_burst = ${perSecond}
          WHERE id = $1`,
        [id],
      );
      return { tenantId: toWireId('tnt', id), hmacSecret, webhookSecret };
    },
    async operator(name) {
      const operator = { id: newId(), name, secret: newSecret('osk', randomBytes) };
      await createOperator(store, operator, testAuthor);
      return { operatorId: toWireId('op', operator.id), secret: operator.secret };
    },
    async node(name) {
      const node = {
        id: newId(),
        name,
        secret: newSecret('nsk', randomBytes),
        slotsMax: slotsMaxMax,
      };
      await createNode(store, node, testAuthor);
      return { nodeId: toWireId('nod', node.id), nodeSecret: node.secret };
    },
    async rotateWebhookSecret({ tenantId }) {
      const secret = newSecret('whsec', randomBytes);
      const rotation = {
        tenantId: fromWireId('tnt', tenantId) ?? '',
        kind: 'webhook',
        secret,
        overlapMs: dayMs,
        force: false,
      } as const;
      const { kind } = await rotateTenantSecret(store, rotation, testAuthor);
      if (kind !== 'rotated') throw new Error(kind);
      return secret;
    },
    close: () => store.close(),
  };
}

export function signedByOperator(operator: OperatorKey, wire: WireRequest): WireRequest {
  const signer = { id: operator.operatorId, secret: operator.secret, header: 'X-SVC-Operator' };
  return { ...wire, headers: { ...signatureHeaders(signer, wire), ...wire.headers } };
}
