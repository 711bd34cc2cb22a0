import { expect, test } from 'vitest';
import { beginOther, untilLockWait } from '../lock-wait.fixture.ts';
import { createFixture } from '../store.fixture.ts';

for (const [what, change] of [
  ['a release', 'held_micros = 600000000'],
  ['a grant', 'balance_micros = 1100000000'],
] as const) {
  test(`a hold that waits for ${what} is granted from the rest`, async () => {
    const fixture = await createFixture();
    const tenantId = await fixture.tenant(900);
    await fixture.hold(tenantId, { max: 800 });
    const other = await beginOther(fixture);
    await other.query(`UPDATE credit_accounts SET ${change}`);
    const placed = fixture.hold(tenantId, { max: 250 });
    await untilLockWait(fixture);
    await other.commit();
    expect((await placed).outcome).toMatchObject({
      kind: 'held',
      availableAfterMicros: 50_000_000n,
    });
  });
}
