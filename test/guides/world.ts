import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  connectScriptedNode,
  type ScriptedOutcome,
  startStack,
  type TenantCredentials,
  type TestStack,
} from '@svc/testkit';
import { send } from '../support/wire.ts';

const checkoutDir = path.resolve(import.meta.dirname, '../..');

/**
 * A running stack in which the guides are tried. Its only node accepts all offers, and reports the
 * outcomes of `outcomeOf`.
 */
export interface GuideWorld {
  readonly stack: TestStack;
  /** The TypeScript client is installed in this directory. */
  readonly dir: string;
  signUp(): Promise<TenantCredentials>;
  close(): Promise<void>;
}

export function variablesOf(stack: TestStack, tenant: TenantCredentials): Record<string, string> {
  return {
    SVC_URL: stack.gatewayUrl,
    SVC_TENANT: tenant.tenantId,
    SVC_SECRET: tenant.hmacSecret,
    SVC_WEBHOOK_SECRET: tenant.webhookSecret,
  };
}

export async function openGuideWorld(): Promise<GuideWorld> {
  const stack = await startStack({ env: { SIGNUP_PER_HOUR: '1000' } });
  const { nodeId, nodeSecret: secret } = await stack.createNode('scripted');
  const node = await connectScriptedNode({ link: stack.nodeLinkUrl, nodeId, secret, slots: 100 });
  const behaviours = new Map<string, string | undefined>();
  node.autoPilot({
    answer(offer) {
      behaviours.set(offer.submissionId, offer.sandboxBehaviour);
      return 'accept';
    },
    outcome: (submissionId) => outcomeOf(behaviours.get(submissionId)),
  });
  const dir = mkdtempSync(path.join(tmpdir(), 'svc-guides-'));
  mkdirSync(path.join(dir, 'node_modules/@svc'), { recursive: true });
  symlinkSync(
    path.join(checkoutDir, 'packages/client'),
    path.join(dir, 'node_modules/@svc/client'),
  );
  writeFileSync(path.join(dir, 'package.json'), '{"type":"module"}\n');
  return {
    stack,
    dir,
    async signUp() {
      const body = { name: 'Guides' };
      const answer = await send(stack.gatewayUrl, { method: 'POST', target: '/signup', body });
      const text = (name: string) => String(answer.body[name]);
      return {
        tenantId: text('tenantId'),
        hmacSecret: text('hmacSecret'),
        webhookSecret: text('webhookSecret'),
      };
    },
    async close() {
      await node.close();
      await stack.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function outcomeOf(behaviour: string | undefined): ScriptedOutcome | undefined {
  // The node reports no outcome.
  if (behaviour === 'sandbox.slow') return undefined;
  if (behaviour === 'sandbox.fail') return { failed: { code: 'captcha', message: 'A captcha.' } };
  return { completed: {} };
}
