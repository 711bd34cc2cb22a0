import { readPublishedSurge } from '@svc/queue';
import { waitUntil } from '@svc/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDispatching, type Dispatching } from '../dispatcher.fixture.ts';
import { nextSurge } from './surge.ts';

const idle = { slots: 10, free: 10 };
const busy = { slots: 10, free: 0 };

describe('surge', () => {
  test('starts with no surge for any usage of the fleet, and then follows that usage', () => {
    const begun = nextSurge(busy, null, 1_000);
    expect(begun).toEqual({ micros: 1_000_000n, atMs: 1_000 });
    const risen = nextSurge(busy, begun, 4_000);
    expect(risen).toEqual({ micros: 1_200_000n, atMs: 4_000 });
    expect(nextSurge(idle, risen, 34_000).micros).toBe(1_000_000n);
  });

  test('is the same at the same time, whether one dispatcher or several compute it', () => {
    const alone = nextSurge(busy, { micros: 1_000_000n, atMs: 0 }, 300);
    let together = { micros: 1_000_000n, atMs: 0 };
    for (const atMs of [100, 200, 300]) together = nextSurge(busy, together, atMs);
    // Each step moves surge by a share of the distance to the target. The distance shrinks, so
    // three short steps together move a little less than one long step.
    expect(Number(alone.micros - together.micros)).toBeGreaterThanOrEqual(0);
    expect(Number(alone.micros - together.micros)).toBeLessThan(1_000);
  });

  test('does not change if the clock goes back', () => {
    expect(nextSurge(busy, { micros: 2_000_000n, atMs: 5_000 }, 4_000).micros).toBe(2_000_000n);
  });
});

describe('two dispatchers', () => {
  let service: Dispatching;

  beforeAll(async () => {
    service = await startDispatching({ dispatchers: 2 });
  });

  afterAll(async () => {
    await service.end();
  });

  async function published(wanted: (micros: number) => boolean): Promise<number> {
    return await waitUntil(async () => {
      const micros = Number(await readPublishedSurge(service.redis, service.prefix));
      return wanted(micros) ? micros : undefined;
    });
  }

  async function pin(micros: number | null): Promise<void> {
    await service.database.query(
      `INSERT INTO surge_pin (id, pinned_micros, changed_at) VALUES (1, $1, svc_now())
       ON CONFLICT (id) DO UPDATE SET pinned_micros = $1, changed_at = svc_now()`,
      [micros],
    );
  }

  test('publish the surge of a busy fleet in steps, or the pinned value, also after a flush', async () => {
    expect(await published((micros) => micros > 0)).toBe(1_000_000);
    const node = await service.connect({ dispatcher: 1 });
    await service.post();
    await node.runNext();
    const risen = await published((micros) => micros > 1_000_000);
    expect(risen % 50_000).toBe(0);
    await waitUntil(async () => {
      const seen = await service.metrics(1);
      return (
        /^svc_dispatcher_links\{.*\} 1$/m.test(seen) && /^svc_dispatcher_runs\{.*\} 1$/m.test(seen)
      );
    });
    expect(await service.metrics(0)).toMatch(/^svc_dispatcher_links\{.*\} 0$/m);
    await pin(2_345_678);
    await published((micros) => micros === 2_345_678);
    await service.flush();
    await published((micros) => micros === 2_345_678);
    await pin(null);
    const going = await published((micros) => micros !== 2_345_678 && micros > 0);
    // The dispatchers still had the smoothed surge, although Redis was flushed.
    expect(going).toBeGreaterThanOrEqual(risen);
    expect(going % 50_000).toBe(0);
    await node.close();
  });
});
