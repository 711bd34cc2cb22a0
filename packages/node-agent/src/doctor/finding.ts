export interface Finding {
  readonly check: string;
  readonly passed: boolean;
  readonly text: string;
}

export function pass(check: string, text: string): Finding {
  return { check, passed: true, text };
}

export function fail(check: string, text: string): Finding {
  return { check, passed: false, text };
}
