import { mkdirSync, writeFileSync } from 'node:fs';
import { aboutThisRun } from './about.ts';
import { type GoalFigures, goalsTable, verdictLine } from './goals.ts';

const file = 'bench/results.json';

export class Report {
  readonly #startedMs = performance.now();
  readonly #parts: Record<string, unknown> = {};
  readonly #failed: string[] = [];
  #about: object = aboutThisRun({});
  readonly #goals = new Map<string, readonly number[]>();

  servers(versions: Readonly<Record<string, string>>): void {
    this.#about = aboutThisRun(versions);
  }

  say(text: string): void {
    process.stdout.write(`${text}\n`);
  }

  /** Returns undefined if the part fails. Its error is printed, and the other parts still run. */
  async part<T>(
    name: string,
    measure: () => Promise<T>,
    describe: (result: T) => string,
    goalFigures: (result: T) => GoalFigures = () => new Map(),
  ): Promise<T | undefined> {
    const startedMs = performance.now();
    try {
      const result = await measure();
      this.#parts[name] = result;
      this.say(`\n${describe(result)}\n`);
      for (const [goal, figures] of goalFigures(result)) this.#goals.set(goal, figures);
      return result;
    } catch (error) {
      this.#failed.push(name);
      this.#parts[name] = { failed: String(error) };
      console.error(`${name} failed:`, error);
      return undefined;
    } finally {
      const took = ((performance.now() - startedMs) / 1_000).toFixed(0);
      console.error(`(${name}: ${took} s)`);
      this.#write();
    }
  }

  end(): void {
    this.#write();
    const seconds = ((performance.now() - this.#startedMs) / 1_000).toFixed(0);
    this.say(`\n${goalsTable(this.#goals)}\n`);
    this.say(`The results are in ${file}. The run took ${seconds} s.`);
    if (this.#failed.length > 0) {
      this.say(`Failed: ${this.#failed.join(', ')}.`);
      process.exitCode = 1;
    }
    this.say(verdictLine(this.#goals));
  }

  #write(): void {
    mkdirSync('bench', { recursive: true });
    const goals = Object.fromEntries(this.#goals);
    const whole = { ...this.#about, failed: this.#failed, goals, results: this.#parts };
    writeFileSync(file, `${JSON.stringify(whole, null, 2)}\n`);
  }
}
