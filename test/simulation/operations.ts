/** An operation, which a worker process gets as JSON and performs. */
export type Operation =
  | { kind: 'quote'; tenantId: string }
  | { kind: 'hold'; submissionId: string; tenantId: string; key: string; maxMicros: string }
  | { kind: 'dispatch'; submissionId: string; nodeId: string }
  | { kind: 'begin'; submissionId: string; nodeId: string }
  | { kind: 'usage'; submissionId: string; nodeId: string; actions: number }
  | { kind: 'complete'; submissionId: string; nodeId: string; actions: number }
  | { kind: 'fail'; submissionId: string; nodeId: string }
  | { kind: 'settle'; submissionIds: string[] }
  | { kind: 'cancel'; submissionId: string; tenantId: string }
  | { kind: 'reject'; submissionId: string }
  | { kind: 'grant'; tenantId: string; reference: string; micros: string }
  | { kind: 'payRebate'; tenantId: string }
  | { kind: 'look'; submissionId: string; tenantId: string };

export interface SubmissionFact {
  submissionId: string;
  state: string;
  chargedMicros: string | null;
}

export interface Outcome {
  result: string;
  facts: SubmissionFact[];
  quoted?: { estimatedMicros: string; maxMicros: string };
  /** The amount that a rebate paid out. */
  paidMicros?: string;
  /** The balance minus all holds, after a hold or a grant. */
  availableMicros?: string;
  /** The amount that a cancel released. */
  refundedMicros?: string;
  balance?: { balanceMicros: string; heldMicros: string };
}

export interface Request {
  id: number;
  operation: Operation;
}

export type Reply = { id: number; outcome: Outcome } | { id: number; error: string };

export const simulationAuthor = {
  actor: { kind: 'local', name: 'simulation' },
  requestId: null,
} as const;
