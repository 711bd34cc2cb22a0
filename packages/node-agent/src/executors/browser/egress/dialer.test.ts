import { expect, test } from 'vitest';
import { createDialer } from './dialer.ts';

function dialerTo(answer: readonly string[]) {
  let isOwn = false;
  const lookUps: string[] = [];
  const dialer = createDialer({
    hostMap: new Map(),
    // Nothing listens on port 80 of this address, so an allowed connection fails.
    isAllowed: (ip) => ip === '127.0.0.1' && !isOwn,
    lookUp: async (name) => {
      lookUps.push(name);
      return answer;
    },
  });
  return { dialer, lookUps, join: () => (isOwn = true) };
}

test('a kept answer is refused once its address belongs to a network of the node', async () => {
  const { dialer, lookUps, join } = dialerTo(['127.0.0.1']);
  const destination = { host: 'a.example', port: 80 };
  expect(await dialer.dial(destination)).not.toEqual({ kind: 'refused' });
  join();
  expect(await dialer.dial(destination)).toEqual({ kind: 'refused' });
  expect(lookUps).toEqual(['a.example']);
});

test.each([[[]], [['127.0.0.1', '93.184.216.34']]])(
  'an answer is refused as a whole if it has no or one forbidden address: %j',
  async (answer) => {
    const { dialer } = dialerTo(answer);
    expect(await dialer.dial({ host: 'a.example', port: 80 })).toEqual({ kind: 'refused' });
  },
);

test('a literal address is refused by the rule, too', async () => {
  const { dialer } = dialerTo([]);
  expect(await dialer.dial({ host: '93.184.216.34', port: 80 })).toEqual({ kind: 'refused' });
  expect(dialer.refusals()).toEqual(['93.184.216.34']);
});
