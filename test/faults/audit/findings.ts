export class Findings {
  readonly #checks = new Map<string, { count: number; readonly violations: string[] }>();

  expect(promise: string, holds: boolean, subject: string, what: () => string): void {
    const check = this.#checks.get(promise) ?? { count: 0, violations: [] };
    this.#checks.set(promise, check);
    check.count += 1;
    if (!holds) check.violations.push(`${subject}: ${what()}`);
  }

  addAll(promise: string, count: number, violations: readonly string[]): void {
    const check = this.#checks.get(promise) ?? { count: 0, violations: [] };
    this.#checks.set(promise, check);
    check.count += count;
    check.violations.push(...violations);
  }

  results(): { promise: string; count: number; violations: readonly string[] }[] {
    return [...this.#checks].map(([promise, check]) => ({ promise, ...check }));
  }

  violations(): string[] {
    return this.results().flatMap(({ promise, violations }) =>
      violations.map((violation) => `broken promise: ${promise}: ${violation}`),
    );
  }
}
