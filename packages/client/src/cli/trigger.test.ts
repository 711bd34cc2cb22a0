import { expect, test } from 'vitest';
import { readCredentials } from './context.ts';
import { CommandError } from './failure.ts';
import { trigger } from './trigger.ts';

const refuse = () => Promise.reject(new Error('unexpected'));

test.each([undefined, 'submission.unknown', 'constructor'])(
  'the event %s is refused before a request is sent',
  async (event) => {
    const credentials = await readCredentials({
      SVC_BASE_URL: 'http://127.0.0.1:9',
      SVC_TENANT_ID: 'tnt_01jd5qz2m8f0gan4c6s1yb7kpe',
      SVC_HMAC_SECRET: 'hsk_test_trigger',
    });
    const context = {
      ...credentials,
      fetch: refuse,
      now: () => 0,
      pause: refuse,
      write: () => {},
      isJson: false,
      stateDir: '',
    };
    await expect(trigger(context, event)).rejects.toThrow(CommandError);
  },
);
