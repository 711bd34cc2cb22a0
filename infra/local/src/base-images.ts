/**
 * Matches a line of a Dockerfile or a compose file that names an image. The groups are the start of
 * the line, the image with its tag, the digest and the rest.
 */

const reference =
  /^(\s*(?:FROM|image:)\s+)([a-z0-9./-]+(?::[\w.-]+)?)(@sha256:[0-9a-f]{64})?(\s.*)?$/gm;
/**
 * Images that need no digest. `submission-service` is built from this repository. `scratch` is the
 * empty image of Docker.
 */
const withoutDigest = new Set(['submission-service', 'scratch']);

export interface ImageReference {
  readonly image: string;
  /** `sha256:…`. Null if the text has only a tag, which may name another image later. */
  readonly digest: string | null;
}

export function imagesIn(text: string): ImageReference[] {
  return [...text.matchAll(reference)]
    .filter(([, , image = '']) => !withoutDigest.has(image))
    .map(([, , image = '', digest]) => ({ image, digest: digest?.slice(1) ?? null }));
}

/**
 * `digests` maps an image with its tag, such as `redis:8`, to the digest. Returns the text with
 * this digest after the tag. Images that are not in `digests` stay unchanged.
 */
export function pinned(text: string, digests: ReadonlyMap<string, string>): string {
  return text.replaceAll(reference, (line, before, image, _, after) => {
    const digest = digests.get(image);
    return digest === undefined ? line : `${before}${image}@${digest}${after ?? ''}`;
  });
}
