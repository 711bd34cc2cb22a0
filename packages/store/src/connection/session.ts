/**
 * Settings that every session sets explicitly, because the server, the database or the role may
 * have other defaults.
 *
 * UTC: the driver adapter drops the offset of the times that it reads, and arithmetic with days and
 * months follows the session's zone. `synchronous_commit`: an answer keeps its promise only if the
 * commit before it is on disk.
 */
const pinnedSettings = '-c TimeZone=UTC -c synchronous_commit=on';

/**
 * The connection options for `databaseUrl`, with `settings` (`-c name=value …`) and the pinned
 * settings. The pinned settings win over the `options` in the URL.
 */
export function pinnedSession(
  databaseUrl: string,
  settings = '',
): { connectionString: string; options: string } {
  const url = new URL(databaseUrl);
  const own = url.searchParams.get('options') ?? '';
  // The driver prefers the URL's `options` to the `options` argument.
  if (own !== '') url.searchParams.delete('options');
  return {
    connectionString: own === '' ? databaseUrl : url.href,
    options: [own, settings, pinnedSettings].filter((part) => part !== '').join(' '),
  };
}
