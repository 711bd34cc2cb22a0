import { describe, expect, test } from 'vitest';
import { useDispatching } from '../dispatcher.fixture.ts';

const service = await useDispatching();

const usage = '"usage":{}';
const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

/** Frames that a reader without limits would parse recursively, store or pass on. */
const hostile: Readonly<Record<string, (submissionId: string) => string>> = {
  'nests 4,400 arrays in its details': (id) =>
    `{"type":"completed","submissionId":"${id}",${usage},"result":{"details":{"a":${deep(4_400)}}}}`,
  'opens 130,000 arrays': () => '['.repeat(130_000),
  'nests 40,000 objects': (id) =>
    `{"type":"usage","submissionId":"${id}","usage":${'{"a":'.repeat(40_000)}1${'}'.repeat(40_001)}`,
  'has U+0000 in its result': (id) =>
    `{"type":"completed","submissionId":"${id}",${usage},"result":{"confirmationId":"\\u0000"}}`,
  'has a lone surrogate in a name of its details': (id) =>
    `{"type":"completed","submissionId":"${id}",${usage},"result":{"details":{"\\udc00":1}}}`,
};

describe.each(Object.entries(hostile))('a frame that %s', (_what, frameFor) => {
  test('is a bad frame, and the jobs of this node and of other nodes go on', async () => {
    const honest = await service.connect();
    honest.autoPilot();
    const { replied: first } = await service.post();
    expect(await first).toBe('dispatched');
    const before = await badFrames();

    const attacker = await service.connect();
    const running = service.post();
    const id = await attacker.runNext();
    expect(await (await running).replied).toBe('dispatched');
    attacker.sendText(frameFor(id));
    expect((await attacker.next('error')).code).toBe('malformed_frame');
    attacker.sendText(frameFor(id));
    await attacker.next('error');
    // Two bad frames do not close the link, so the node can still end its job.
    attacker.send({ type: 'completed', submissionId: id, usage: {}, result: {} });
    await attacker.next('ack');
    attacker.sendText(frameFor(id));
    expect((await attacker.closed).code).toBe(1008);

    const { replied, id: second } = await service.post();
    expect(await replied).toBe('dispatched');
    await honest.next('ack');
    await honest.next('ack');
    expect((await service.row(second))?.state).toBe('settling');
    expect(await badFrames()).toBe(before + 3);
  });
});

test('only the code and message of a failure are stored', async () => {
  const node = await service.connect();
  const posted = service.post();
  const id = await node.runNext();
  const failure = {
    code: 'captcha',
    message: 'a captcha',
    kind: 'no such kind',
    usage: { actions: 1e300 },
  };
  node.sendText(
    JSON.stringify({ type: 'failed', submissionId: id, usage: { actions: 2 }, failure }),
  );
  await node.next('ack');
  const row = await service.row((await posted).id);
  expect(row).toMatchObject({ state: 'settling', failure_code: 'captcha', actions: 2 });
});

async function badFrames(): Promise<number> {
  const text = await service.metrics(0);
  const counts = [...text.matchAll(/^svc_dispatcher_bad_frames_total\{.*\} (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}
