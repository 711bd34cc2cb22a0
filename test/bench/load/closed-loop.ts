import { Answers } from './answers.ts';
import { type Connection, connectTo } from './connection.ts';
import type { Load, LoadResult, Pace } from './messages.ts';

/** Sends requests for `seconds`, but at most `requestsMax`. Throws if a connection fails. */
export async function driveClosed(
  load: Load,
  { inFlight, seconds, requestsMax }: Extract<Pace, { kind: 'closed' }>,
): Promise<LoadResult> {
  const { gatewayUrls } = load;
  const answers = new Answers(load);
  const connections = await Promise.all(
    Array.from({ length: inFlight }, (_, index) =>
      connectTo(gatewayUrls[index % gatewayUrls.length] ?? ''),
    ),
  );
  const endMs = performance.now() + seconds * 1_000;
  let sent = 0;
  const work = async (connection: Connection): Promise<void> => {
    while (performance.now() < endMs && sent < requestsMax) await answers.post(connection, sent++);
    connection.close();
  };
  await Promise.all(connections.map((one) => work(one)));
  return { posts: answers.posts, refused: answers.refused };
}
