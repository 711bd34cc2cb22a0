export type Row = Record<string, string | number | boolean | null>;

export interface CheckCase {
  readonly table: string;
  readonly check: string;
  readonly accepts: readonly Row[];
  readonly refuses: readonly Row[];
  /**
   * True if the CHECK was added with `NOT VALID` and not validated later. Its column was new, so
   * all existing rows had null there and satisfied the CHECK.
   */
  readonly isUnvalidated?: boolean;
}

export const at = '2026-11-20T00:00:00Z';
export const id = '01890a5d-ac96-774b-bcce-b302099a8057';
