import { expect, test } from 'vitest';
import { beginOther, untilLockWait } from '../lock-wait.fixture.ts';
import { createFixture, newSubmission } from '../store.fixture.ts';
import { holdSubmissions } from './hold.ts';

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

for (const [what, change] of [
  ['the credits are then spent', 'balance_micros = 200000000'],
  ['the room is then used', 'in_flight_max = 1'],
] as const) {
  test(`a repeat that waits for its first attempt recognises the hold, although ${what}`, async () => {
    const fixture = await createFixture();
    const tenantId = await fixture.tenant(1_000);
    await fixture.database.query(`UPDATE credit_accounts SET ${change}`);
    const submission = await newSubmission(fixture.store, tenantId, { max: 200 });
    const other = await beginOther(fixture);
    await other.query('SELECT FROM credit_accounts FOR UPDATE');
    // The connection of the first attempt breaks, but Postgres still runs the attempt.
    const first = holdSubmissions(fixture.store, [submission], 'first');
    await untilLockWait(fixture, 1);
    const repeat = holdSubmissions(fixture.store, [submission], 'repeat');
    await untilLockWait(fixture, 2);
    await other.commit();
    expect(await first).toMatchObject([{ kind: 'held' }]);
    expect(await repeat).toMatchObject([{ kind: 'held' }]);
    expect((await fixture.figures(tenantId)).held).toBe(200);
  });
}
