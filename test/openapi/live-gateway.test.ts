import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { expect, test } from 'vitest';
import { startWholeStack } from '../support/whole-stack.ts';
import { commandVariable } from './live-gateway.ts';

/**
 * The command from `runAtLiveGateway`, as JSON. Without a command, as in `npm test`, the test is
 * skipped.
 */
const command = process.env[commandVariable];

test.runIf(command !== undefined)(
  'a command with the address and the keys of a live gateway succeeds',
  { timeout: 3_600_000 },
  async () => {
    const whole = await startWholeStack({ gateways: 1, env: { SIGNUP_PER_HOUR: '100000' } });
    try {
      const tenant = await whole.tenant({ grantCredits: 100_000_000 });
      const operator = await whole.operator('generated requests');
      const [program = '', ...words]: string[] = JSON.parse(String(command));
      const child = spawn(program, words, {
        stdio: 'inherit',
        env: {
          ...process.env,
          NODE_OPTIONS: '',
          SVC_URL: whole.stack.gatewayUrl,
          SVC_TENANT: tenant.tenantId,
          SVC_SECRET: tenant.hmacSecret,
          SVC_OPERATOR_ID: operator.operatorId,
          SVC_OPERATOR_SECRET: operator.secret,
        },
      });
      const [status] = await once(child, 'exit');
      expect(status).toBe(0);
    } finally {
      await whole.close();
    }
  },
);
