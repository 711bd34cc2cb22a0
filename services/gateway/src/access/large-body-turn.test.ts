import { NoQuery } from '@svc/contracts';
import { expect, test } from 'vitest';
import { sendTo, startApp } from '../app.fixture.ts';
import { json } from '../http/answer.ts';
import { tenantEndpoint } from '../http/endpoint.ts';

/** Answers all at the same moment, as Redis does with a pipeline. */
function limiterOf(count: number) {
  const allAsked = Promise.withResolvers<void>();
  let asked = 0;
  return {
    giveBack: async () => await Promise.resolve(),
    async take() {
      asked += 1;
      if (asked === count) allAsked.resolve();
      await allAsked.promise;
      return { allowed: true, left: 7, fullInMs: 0, retryInMs: 0 };
    },
  };
}

test.each([
  ['large', 16_385, 5],
  ['small', 16_384, 1],
])(
  '%s bodies of %i bytes are handled in %i turns of the event loop',
  async (_what, bytes, turns) => {
    let turn = 0;
    let isOver = false;
    const countTurn = (): void => {
      turn += 1;
      if (!isOver) setImmediate(countTurn);
    };
    countTurn();
    const handledIn = new Set<number>();
    const endpoint = tenantEndpoint({
      method: 'post',
      path: '/v1/things',
      query: NoQuery,
      async handle() {
        handledIn.add(turn);
        return await Promise.resolve(json(200, {}));
      },
    });
    const server = await startApp({ endpoints: [endpoint], limiter: limiterOf(5) });
    const request = { method: 'POST', target: '/v1/things', body: Buffer.alloc(bytes, ' ') };
    const answers = await Promise.all(Array.from({ length: 5 }, () => sendTo(server, request)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(handledIn.size).toBe(turns);
    isOver = true;
    await server.close();
  },
);
