import { type OfferRecord, toWireId } from '@svc/domain';
import { offersOfStored, type StoredOffer } from '@svc/store/fixture';
import { type TestDatabase, waitUntil } from '@svc/testkit';

export interface SubmissionRow {
  readonly [column: string]: unknown;
  readonly state: string;
  readonly node_id: string | null;
  readonly failure_code: string | null;
  readonly actions: number | null;
}

export function submissionRows(database: TestDatabase) {
  return {
    async stateOf(id: string): Promise<string | undefined> {
      return (await this.row(id))?.state;
    },
    async expectState(id: string, state: string): Promise<void> {
      const isThere = async () => (await this.stateOf(id)) === state;
      await waitUntil(isThere, { what: `the state ${state}` });
    },
    async row(id: string): Promise<SubmissionRow | undefined> {
      const [row] = await database.query<SubmissionRow>(
        `SELECT state, node_id, failure_code, usage_actions::float8 AS actions
         FROM submissions WHERE id = $1`,
        [id],
      );
      return row;
    },
    async heldAt(id: string): Promise<Date> {
      const [row] = await database.query<{ created_at: Date }>(
        'SELECT created_at FROM submissions WHERE id = $1',
        [id],
      );
      if (row === undefined) throw new Error('no such submission');
      return row.created_at;
    },
    async offers(id: string): Promise<OfferRecord[]> {
      const [row] = await database.query<{ offers: StoredOffer[] | null }>(
        'SELECT offer_records::jsonb AS offers FROM submissions WHERE id = $1',
        [id],
      );
      return offersOfStored(row?.offers ?? []).map((one) => ({
        ...one,
        nodeId: toWireId('nod', one.nodeId),
      }));
    },
  };
}
