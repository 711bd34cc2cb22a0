import { expect, test } from 'vitest';
import { assertReady, databaseNow } from '../schema/environment.ts';
import { createFixture } from '../store.fixture.ts';
import { createIdClock } from './id-clock.ts';
import { openStore } from './store.ts';

test('the time in an id is the database’s, and advances between two readings', async () => {
  let [monotonicMs, databaseMs, readings] = [5_000, 1_000_000, 0];
  const clock = createIdClock(
    async () => {
      readings += 1;
      monotonicMs += 10;
      return databaseMs;
    },
    () => monotonicMs,
  );
  await clock.read();
  expect(clock.nowMs()).toBe(1_000_005);
  monotonicMs += 59_000;
  expect(clock.nowMs()).toBe(1_059_005);
  expect(readings).toBe(1);
  databaseMs = 50_000;
  monotonicMs += 2_000;
  clock.nowMs();
  await expect.poll(() => clock.nowMs()).toBeLessThan(100_000);
  expect(readings).toBe(2);
});

test('a failed reading is repeated, and the last one is used until then', async () => {
  let [monotonicMs, isAway] = [0, false];
  const clock = createIdClock(
    async () => {
      if (isAway) throw new Error('away');
      return 7_000_000 + monotonicMs;
    },
    () => monotonicMs,
  );
  await clock.read();
  isAway = true;
  monotonicMs = 70_000;
  expect(clock.nowMs()).toBe(7_070_000);
  await expect(clock.read()).rejects.toThrow('away');
  expect(clock.nowMs()).toBe(7_070_000);
});

test('a ready service creates ids by the database’s clock, even if its own is months off', async () => {
  const { store, database, advance } = await createFixture();
  await advance(90 * 24 * 3_600_000);
  const times: number[] = [];
  const newId = (nowMs: number) => {
    times.push(nowMs);
    return store.newId();
  };
  const other = openStore({ ...store, databaseUrl: database.databaseUrl, newId });
  try {
    await assertReady(other, 'sandbox');
    other.newId();
    const now = await databaseNow(other);
    expect(Math.abs((times[0] ?? 0) - now.getTime())).toBeLessThan(60_000);
  } finally {
    await other.close();
  }
});
