import {
  type AutoPilot,
  connectScriptedNode,
  type ScriptedNode,
  type StackOptions,
  startStack,
  type TenantCredentials,
  type TestStack,
} from '@svc/testkit';
import { type Accounts, openAccounts } from './accounts.ts';
import { type ApiDescription, describeApi } from './description.ts';
import { send, signedBy, type WireAnswer, type WireRequest } from './wire.ts';

/**
 * A whole stack for the tests of a file: two gateways by default, and a scripted node that takes
 * and finishes jobs by itself.
 */
export interface WholeStack {
  readonly stack: TestStack;
  readonly api: ApiDescription;
  readonly node: ScriptedNode;
  readonly tenant: Accounts['tenant'];
  readonly operator: Accounts['operator'];
  readonly rotateWebhookSecret: Accounts['rotateWebhookSecret'];
  /**
   * Sends a request. The requests go to the gateways of `stack` in turn. Throws if the OpenAPI
   * document does not describe the answer.
   */
  ask(wire: WireRequest): Promise<WireAnswer>;
  askAs(tenant: TenantCredentials, wire: WireRequest): Promise<WireAnswer>;
  close(): Promise<void>;
}

export interface WholeStackOptions extends StackOptions {
  readonly slots?: number;
  readonly pilot?: AutoPilot;
}

export async function startWholeStack(options: WholeStackOptions = {}): Promise<WholeStack> {
  const { slots = 1000, pilot, ...stackOptions } = options;
  const stack = await startStack({ gateways: 2, ...stackOptions });
  const accounts = openAccounts(stack);
  const { nodeId, nodeSecret: secret } = await accounts.node('scripted');
  const node = await connectScriptedNode({ link: stack.nodeLinkUrl, nodeId, secret, slots });
  node.autoPilot(pilot);
  const api = await describeApi(stack.gatewayUrl);
  let turn = 0;
  const ask = async (wire: WireRequest): Promise<WireAnswer> => {
    turn += 1;
    const answer = await send(stack.gatewayUrls[turn % stack.gatewayUrls.length] ?? '', wire);
    const violations = api.violations(wire, answer);
    if (violations.length > 0)
      throw new Error(`the answer breaks the OpenAPI document: ${violations.join('; ')}`);
    return answer;
  };
  return {
    stack,
    api,
    node,
    ask,
    askAs: (tenant, wire) => ask(signedBy(tenant, wire)),
    tenant: (tenantOptions) => accounts.tenant(tenantOptions),
    operator: (name) => accounts.operator(name),
    rotateWebhookSecret: (tenant) => accounts.rotateWebhookSecret(tenant),
    async close() {
      await accounts.close();
      await node.close();
      await stack.close();
    },
  };
}
