import type { ServiceName } from '@svc/local';
import { expect, it } from 'vitest';
import { createFailpoints, type StoppableProcess } from './failpoints.ts';

function slotOf(
  service: ServiceName,
  index: number,
  confirm?: (slot: StoppableProcess, name: string) => void,
) {
  const sent: object[] = [];
  const slot: StoppableProcess = {
    service,
    index,
    current: {
      send(message) {
        sent.push(message);
        if ('arm' in message && typeof message.arm === 'string') confirm?.(slot, message.arm);
      },
    },
  };
  return { slot, sent };
}

it('stops the first process that reaches a failpoint, and lets later ones pass', async () => {
  const failpoints = createFailpoints();
  const [zero, one] = [slotOf('dispatcher', 0), slotOf('dispatcher', 1)];
  const reached = failpoints.reached('dispatcher', 'outcome.stored', 1_000);
  for (const { slot } of [one, zero]) failpoints.receive(slot, { failpoint: 'outcome.stored' });
  expect(await reached).toBe(1);
  expect([zero.sent, one.sent]).toStrictEqual([[{ release: 'outcome.stored' }], []]);
  failpoints.release('dispatcher', 'outcome.stored');
  expect(one.sent).toStrictEqual([{ release: 'outcome.stored' }]);
});

it('finds a failpoint that was reached before the call', async () => {
  const failpoints = createFailpoints();
  failpoints.receive(slotOf('gateway', 0).slot, { failpoint: 'hold.committed' });
  expect(await failpoints.reached('gateway', 'hold.committed', 0)).toBe(0);
});

it('arms a failpoint again after a process has stopped at it', async () => {
  const failpoints = createFailpoints();
  const { slot, sent } = slotOf('webhooks', 0, (armed, name) =>
    queueMicrotask(() => failpoints.receive(armed, { armed: name })),
  );
  for (const _ of [1, 2]) {
    await failpoints.arm([slot], 'webhook.sent');
    failpoints.receive(slot, { failpoint: 'webhook.sent' });
    expect(await failpoints.reached('webhooks', 'webhook.sent', 0)).toBe(0);
  }
  expect(sent).toStrictEqual([{ arm: 'webhook.sent' }, { arm: 'webhook.sent' }]);
});

it('names the failpoint that no process reached', async () => {
  const failpoints = createFailpoints();
  const { slot } = slotOf('gateway', 0);
  failpoints.receive(slot, { failpoint: 'hold.committed' });
  failpoints.receive(slot, 'something else');
  await expect(failpoints.reached('settlement', 'hold.committed', 10)).rejects.toThrow(
    'no process reached the failpoint settlement: hold.committed within 10 ms',
  );
});
