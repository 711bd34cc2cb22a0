/**
 * One request to `/ready`, and its answer if one came. Without an answer, `answeredMs` is the time
 * at which the request failed. Times are in ms on one clock.
 */
export interface Statement {
  readonly service: string;
  readonly askedMs: number;
  readonly answeredMs: number;
  /** The unavailable dependencies, empty if ready. Undefined if no answer came. */
  readonly missing: readonly string[] | undefined;
}

/**
 * A change of the network for one service. From `atMs` until the next change for this service, it
 * cannot reach the stores in `unreachable`, and can reach all other stores.
 */
export interface Change {
  readonly service: string;
  readonly atMs: number;
  readonly unreachable: readonly string[];
}

export interface Bounds {
  readonly notReadyMsMax: number;
  readonly readyMsMax: number;
}

export interface Judgement {
  readonly statements: number;
  readonly wrong: readonly string[];
  /**
   * The milliseconds from each cut to the first correct answer "not ready". A cut without such an
   * answer is left out.
   */
  readonly notReadyMs: readonly number[];
  /**
   * The milliseconds from each heal to the first correct answer "ready". A heal without such an
   * answer is left out.
   */
  readonly readyMs: readonly number[];
}

/**
 * Finds the wrong answers of `/ready`. A service needs time to notice a change of the network, so a
 * false or missing answer is wrong only after the time in `bounds`.
 */
export function judge(
  services: readonly string[],
  statements: readonly Statement[],
  changes: readonly Change[],
  bounds: Bounds,
): Judgement {
  const judged = services.map((service) =>
    judgeOne(
      statements.filter((one) => one.service === service),
      changes.filter((one) => one.service === service),
      bounds,
    ),
  );
  return {
    statements: statements.length,
    wrong: judged.flatMap(({ wrong }) => wrong),
    notReadyMs: judged.flatMap(({ notReadyMs }) => notReadyMs),
    readyMs: judged.flatMap(({ readyMs }) => readyMs),
  };
}

type JudgementOfOne = Omit<Judgement, 'statements'>;

function judgeOne(
  statements: readonly Statement[],
  changes: readonly Change[],
  { notReadyMsMax, readyMsMax }: Bounds,
): JudgementOfOne {
  const wrong: string[] = [];
  const notReadyMs: number[] = [];
  const readyMs: number[] = [];
  const [begin] = statements;
  if (begin === undefined)
    return { wrong: ['a service was never asked for its readiness'], notReadyMs, readyMs };
  const service = begin.service;
  const all = [{ service, atMs: begin.askedMs, unreachable: [] }, ...changes];
  for (const [index, { atMs, unreachable }] of all.entries()) {
    const endMs = all[index + 1]?.atMs ?? Infinity;
    // A request during which the network changes is not judged.
    const within = statements.filter((one) => one.askedMs >= atMs && one.answeredMs <= endMs);
    const boundMs = unreachable.length === 0 ? readyMsMax : notReadyMsMax;
    const { falseOnes, firstTrueMs } = compare(within, { atMs, unreachable, boundMs });
    wrong.push(...falseOnes.map((one) => describe(one, unreachable)));
    if (firstTrueMs === undefined) {
      if (endMs - atMs > boundMs && endMs !== Infinity && falseOnes.length === 0)
        wrong.push(`${service}: /ready gave no correct answer in ${endMs - atMs} ms`);
    } else if (index > 0) {
      (unreachable.length === 0 ? readyMs : notReadyMs).push(firstTrueMs - atMs);
    }
  }
  return { wrong, notReadyMs, readyMs };
}

/**
 * A false or missing answer is in `falseOnes` only if its request began more than `boundMs` after
 * the last true answer, or after `atMs` if there is none.
 */
function compare(
  statements: readonly Statement[],
  { atMs, unreachable, boundMs }: Omit<Change, 'service'> & { readonly boundMs: number },
) {
  let trueUntilMs = atMs;
  let firstTrueMs: number | undefined;
  const falseOnes: Statement[] = [];
  for (const statement of statements) {
    if (isTrue(statement, unreachable)) {
      trueUntilMs = statement.answeredMs;
      firstTrueMs ??= statement.answeredMs;
    } else if (statement.askedMs - trueUntilMs > boundMs) {
      falseOnes.push(statement);
    }
  }
  return { falseOnes, firstTrueMs };
}

function isTrue({ missing }: Statement, unreachable: readonly string[]): boolean {
  if (missing === undefined) return false;
  if (unreachable.length === 0) return missing.length === 0;
  return unreachable.every((name) => missing.includes(name));
}

function describe({ service, missing }: Statement, unreachable: readonly string[]): string {
  const said = missing === undefined ? 'nothing' : `missing: ${missing.join(', ') || 'none'}`;
  return `${service} reported "${said}"; unreachable in fact: ${unreachable.join(', ') || 'none'}`;
}
