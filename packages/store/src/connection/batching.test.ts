import { expect, test } from 'vitest';
import type { Attempt } from './batch-run.ts';
import { batchWaitingMax, createBatcher } from './batching.ts';

function gated() {
  const batches: number[][] = [];
  const gates: (() => void)[] = [];
  return {
    batches,
    async run(inputs: readonly number[]) {
      batches.push([...inputs]);
      await new Promise<void>((resolve) => gates.push(resolve));
      if (inputs.includes(13)) throw new Error('thirteen');
      return inputs.map((input) => input * 2);
    },
    async letThrough() {
      while (gates.length === 0) await new Promise((resolve) => setImmediate(resolve));
      gates.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

test('a single call runs at once, and calls that arrive meanwhile form the next batch', async () => {
  const gate = gated();
  const batcher = createBatcher({ run: (inputs: readonly number[]) => gate.run(inputs) });
  const first = batcher(1);
  await new Promise((resolve) => setImmediate(resolve));
  const rest = [2, 3, 4].map((input) => batcher(input));
  await gate.letThrough();
  await gate.letThrough();
  expect(await first).toBe(2);
  expect(await Promise.all(rest)).toEqual([4, 6, 8]);
  expect(gate.batches).toEqual([[1], [2, 3, 4]]);
});

test('a batch has a limit and keeps the order of calls', async () => {
  const gate = gated();
  const batcher = createBatcher({
    run: (inputs: readonly number[]) => gate.run(inputs),
    sizeMax: 2,
  });
  const calls = [1, 2, 3, 4, 5].map((input) => batcher(input));
  for (let batch = 0; batch < 3; batch += 1) await gate.letThrough();
  await Promise.all(calls);
  expect(gate.batches).toEqual([[1, 2], [3, 4], [5]]);
});

test('many waiting calls are split among the batches that may be in flight', async () => {
  const gate = gated();
  const batcher = createBatcher({
    run: (inputs: readonly number[]) => gate.run(inputs),
    inFlightMax: 2,
  });
  const many = Array.from({ length: 40 }, (_, index) => batcher(index + 100));
  await gate.letThrough();
  await gate.letThrough();
  await Promise.all(many);
  const few = Array.from({ length: 10 }, (_, index) => batcher(index + 100));
  await gate.letThrough();
  await Promise.all(few);
  expect(gate.batches.map(({ length }) => length)).toEqual([20, 20, 10]);
});

function failing(failures: readonly Error[]) {
  const left = [...failures];
  const batches: number[][] = [];
  const attempts: Attempt[] = [];
  return {
    batches,
    attempts,
    run: async (inputs: readonly number[], attempt: Attempt) => {
      await Promise.resolve();
      batches.push([...inputs]);
      attempts.push(attempt);
      const failure = left.shift();
      if (failure !== undefined) throw failure;
      return inputs;
    },
  };
}

const lost = new Error('Connection terminated unexpectedly');
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

test('a batch whose answer was lost runs once more as a whole, as a repeat', async () => {
  const { batches, attempts, run } = failing([lost]);
  const batcher = createBatcher({ run });
  const outcomes = await Promise.all(numbers(40).map((input) => batcher(input)));
  expect(outcomes).toEqual(numbers(40));
  expect(batches).toEqual([numbers(40), numbers(40)]);
  expect(attempts).toEqual(['first', 'repeat']);
});

test('inputs that run one by one are a repeat only if an answer to them was lost', async () => {
  const refused = new Error('one of them is wrong');
  const afterRefusal = failing([refused]);
  const afterLoss = failing([lost, refused]);
  for (const { run } of [afterRefusal, afterLoss]) {
    const batcher = createBatcher({ run });
    expect(await Promise.all([1, 2].map((input) => batcher(input)))).toEqual([1, 2]);
  }
  expect(afterRefusal.attempts).toEqual(['first', 'first', 'first']);
  expect(afterLoss.attempts).toEqual(['first', 'repeat', 'repeat', 'repeat']);
});

test('a batch whose answer is lost again is rejected as a whole', async () => {
  const { batches, run } = failing([lost, lost]);
  const batcher = createBatcher({ run });
  const outcomes = await Promise.allSettled(numbers(40).map((input) => batcher(input)));
  expect(outcomes).toEqual(numbers(40).map(() => ({ status: 'rejected', reason: lost })));
  expect(batches.map(({ length }) => length)).toEqual([40, 40]);
});

test('if the server is lost while inputs run one by one, the rest are not sent', async () => {
  const refused = new Error('one of them is wrong');
  const { batches, run } = failing([refused, refused, lost]);
  const batcher = createBatcher({ run });
  const outcomes = await Promise.allSettled(numbers(40).map((input) => batcher(input)));
  const reasons = outcomes.map((one) => (one.status === 'rejected' ? one.reason : one.value));
  expect(reasons).toEqual([refused, ...numbers(39).map(() => lost)]);
  expect(batches.slice(1)).toEqual([[0], [1]]);
});

test('calls are answered in time, and a silent batch blocks neither them nor the next', async () => {
  const gate = gated();
  const batcher = createBatcher({
    run: (asked: readonly number[]) => gate.run(asked),
    sizeMax: 2,
    answerMsMax: 50,
  });
  const outcomes = await Promise.allSettled([1, 2, 3, 4].map((input) => batcher(input)));
  for (const outcome of outcomes) {
    expect(outcome).toMatchObject({ reason: { name: 'AnswerOverdue' } });
  }
  expect(gate.batches).toEqual([[1, 2]]);
  const next = batcher(5);
  await gate.letThrough();
  await gate.letThrough();
  expect(await next).toBe(10);
  expect(gate.batches).toEqual([[1, 2], [5]]);
});

test('a failing input does not fail the others in its batch', async () => {
  const batcher = createBatcher({
    async run(inputs: readonly number[]) {
      await Promise.resolve();
      if (inputs.includes(13)) throw new Error('thirteen');
      return inputs.map((input) => input * 2);
    },
  });
  const outcomes = await Promise.allSettled([1, 13, 3].map((input) => batcher(input)));
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await batcher(4)).toBe(8);
});

test('a call above the limit of waiting calls is rejected at once', async () => {
  const gate = gated();
  const batcher = createBatcher({
    run: (inputs: readonly number[]) => gate.run(inputs),
    sizeMax: batchWaitingMax + 1,
  });
  const first = batcher(0);
  await new Promise((resolve) => setImmediate(resolve));
  const rest = Array.from({ length: batchWaitingMax }, (_, index) => batcher(index + 100));
  await expect(batcher(1)).rejects.toThrow('calls already wait');
  await gate.letThrough();
  await gate.letThrough();
  await Promise.all([first, ...rest]);
});
