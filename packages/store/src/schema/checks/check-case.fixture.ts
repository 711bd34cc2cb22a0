export type Row = Record<string, string | number | boolean | null>;

export interface CheckCase {
  readonly table: string;
  readonly check: string;
  readonly accepts: readonly Row[];
  readonly refuses: readonly Row[];
  /**
   * True if the migration did not validate the CHECK, because all rows had null in its new column.
   */
  readonly isUnvalidated?: boolean;
}

export const at = '2026-11-20T00:00:00Z';
export const id = '01890a5d-ac96-774b-bcce-b302099a8057';
