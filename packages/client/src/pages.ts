import { callService, having } from './call.ts';
import { type CallOptions, type Connection, given } from './connection.ts';
import type { Page } from './types.ts';

/**
 * A list. `for await` gives the items of all pages, beginning at the first page or at the `cursor`
 * of the query. Each page is one call.
 */
export interface Pages<Item> extends AsyncIterable<Item> {
  /** The first page, or the page at the `cursor` of the query. */
  page(): Promise<Page<Item>>;
}

export function withQuery(path: string, query: object): string {
  const text = new URLSearchParams(Object.entries(given(query))).toString();
  return path + (text && `?${text}`);
}

export interface ListQuery {
  readonly cursor?: string;
}

export function listOf<Item>(
  connection: Connection,
  path: string,
  query: ListQuery = {},
  options?: CallOptions,
): Pages<Item> {
  const pageAt = (cursor: string | undefined): Promise<Page<Item>> =>
    callService(
      connection,
      {
        method: 'GET',
        path: withQuery(path, { ...query, cursor }),
        read: having<Page<Item>>('nextCursor'),
      },
      options,
    );
  return {
    page: () => pageAt(query.cursor),
    async *[Symbol.asyncIterator]() {
      let cursor: string | null | undefined = query.cursor;
      do {
        const page: Page<Item> = await pageAt(cursor);
        yield* page.data;
        cursor = page.nextCursor;
      } while (cursor);
    },
  };
}
