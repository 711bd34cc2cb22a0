import { pageLimitDefault } from '@svc/domain';
import type { ProblemAnswer } from './answer.ts';
import { type CursorKind, type CursorPosition, decodeCursor, encodeCursor } from './cursor.ts';
import { queryProblem } from './query.ts';

export interface PageRequest {
  readonly kind: 'page';
  readonly limit: number;
  /** Null on the first page. */
  readonly after: CursorPosition | null;
}

/** Returns a `422` problem if `cursor` is not a cursor of this kind of list. */
export function readPage(
  kind: CursorKind,
  { limit = pageLimitDefault, cursor }: { limit?: number; cursor?: string },
): PageRequest | ProblemAnswer {
  if (cursor === undefined) return { kind: 'page', limit, after: null };
  const after = decodeCursor(kind, cursor);
  if (after !== undefined) return { kind: 'page', limit, after };
  const message = 'must be the nextCursor of an earlier page of this list';
  return queryProblem([{ path: '', parameter: 'cursor', message, keyword: 'cursor' }]);
}

export interface Page<Item> {
  readonly data: Item[];
  readonly nextCursor: string | null;
}

/** Makes a page from up to `limit + 1` records. The extra record shows that a next page exists. */
export function pageOf<Item, Shown>(
  kind: CursorKind,
  records: readonly Item[],
  limit: number,
  {
    position,
    show,
  }: {
    readonly position: (record: Item) => CursorPosition;
    readonly show: (record: Item) => Shown;
  },
): Page<Shown> {
  const shown = records.slice(0, limit);
  const last = records.length > limit ? shown.at(-1) : undefined;
  return {
    data: shown.map(show),
    nextCursor: last === undefined ? null : encodeCursor(kind, position(last)),
  };
}
