const portMax = 65_535;
const hostPattern = /^(\[[\da-f:.]+\]|[^:[\]\s]*)(?::(\d{1,5}))?$/i;

/**
 * True if each part of a URL can be read: its percent-encoding is whole, and each of its hosts has
 * a valid port or none. The authority may list several hosts, separated by commas.
 */
export function isReadableUrl(text: string): boolean {
  const [, authority = ''] = /^[a-z][a-z\d+.-]*:\/\/(?:[^/?#]*@)?([^/?#]*)/i.exec(text) ?? [];
  return isDecodable(text) && authority.split(',').every(isHost);
}

function isDecodable(text: string): boolean {
  try {
    // A bundler removes the call if its result is not used.
    return decodeURIComponent(text).length <= text.length;
  } catch {
    return false;
  }
}

function isHost(text: string): boolean {
  const found = hostPattern.exec(text);
  return found !== null && Number(found[2] ?? 0) <= portMax;
}
