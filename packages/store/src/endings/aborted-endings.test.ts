import { expect, test } from 'vitest';
import { createFixture } from '../store.fixture.ts';
import { cancelSubmission } from './endings.ts';

test.each(['deadlock_detected', 'serialization_failure'])(
  'an ending that Postgres aborts with %s is run again',
  async (condition) => {
    const { store, tenant, hold, figures, database } = await createFixture();
    const tenantId = await tenant(1_000);
    const { id: submissionId } = await hold(tenantId);
    // The trigger makes the first insert of an entry fail. The rollback does not reset the
    // sequence, so the second insert succeeds.
    await database.query(`
      CREATE SEQUENCE tries;
      CREATE FUNCTION abort_once() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
        IF nextval('tries') = 1 THEN RAISE EXCEPTION '${condition}' USING ERRCODE = '${condition}'; END IF;
        RETURN NEW;
      END $$;
      CREATE TRIGGER abort_once BEFORE INSERT ON ledger_entries
        FOR EACH ROW EXECUTE FUNCTION abort_once();`);
    const cancelled = await cancelSubmission(store, { submissionId, tenantId, by: 'tenant' });
    expect(cancelled.kind).toBe('cancelled');
    expect(await figures(tenantId)).toEqual({ balance: 1_000, held: 0 });
    expect(await database.query('SELECT last_value::int AS tries FROM tries')).toEqual([
      { tries: 2 },
    ]);
  },
);
