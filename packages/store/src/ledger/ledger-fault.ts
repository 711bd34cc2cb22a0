export type LedgerFaultKind =
  | 'movement_not_allowed'
  | 'account_differs_from_entries'
  | 'held_differs_from_holds'
  | 'in_flight_differs_from_holds'
  | 'figures_differ_from_entries'
  | 'hold_not_ended_once'
  | 'charged_above_hold'
  | 'entry_without_submission'
  /**
   * A checkpoint cannot be unsealed: it was changed. The account is then
   * audited from its first entry.
   */
  | 'checkpoint_forged'
  /**
   * The stored state of the audit was changed or removed, was replaced by an earlier state, or
   * cannot be unsealed.
   */
  | 'audit_state_forged';

export interface LedgerFault {
  kind: LedgerFaultKind;
  /** The UUID of the tenant, submission or entry. For `audit_state_forged`, the nil UUID. */
  subject: string;
  tenantId: string | null;
  detail: string;
}

/**
 * The most faults in each of these: the result of one statement, the result of a whole audit, and
 * the stored state of the audit.
 */
export const faultsMax = 100;
