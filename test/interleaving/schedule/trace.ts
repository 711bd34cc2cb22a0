import { createHash } from 'node:crypto';

/** The events of a run, in order. Two runs with the same seed and options have the same trace. */
export class Trace {
  readonly lines: string[] = [];
  #beganAtMs: number | undefined;

  add(nowMs: number, line: string): void {
    this.#beganAtMs ??= nowMs;
    this.lines.push(`+${nowMs - this.#beganAtMs} ${line}`);
  }

  get hash(): string {
    return createHash('sha256').update(this.lines.join('\n')).digest('hex').slice(0, 16);
  }
}
