/** The result of one check. `doctor` prints it on one line. */
export interface Finding {
  readonly check: string;
  readonly passed: boolean;
  /** The result in words. If the check failed, usually with advice to the node owner. */
  readonly text: string;
}

export function pass(check: string, text: string): Finding {
  return { check, passed: true, text };
}

export function fail(check: string, text: string): Finding {
  return { check, passed: false, text };
}
