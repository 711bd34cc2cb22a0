/** References to base images in a Dockerfile or a compose file. */

const reference =
  /^(\s*(?:FROM|image:)\s+)([a-z0-9./-]+(?::[\w.-]+)?)(@sha256:[0-9a-f]{64})?(\s.*)?$/gm;
/**
 * Images without a digest: the one of this repository, which has none before it is built, and the
 * empty one.
 */
const withoutDigest = new Set(['submission-service', 'scratch']);

export interface ImageReference {
  /** Name and tag. */
  readonly image: string;
  /** `sha256:…`; null if the reference has only a tag, whose image may change. */
  readonly digest: string | null;
}

export function imagesIn(text: string): ImageReference[] {
  return [...text.matchAll(reference)]
    .filter(([, , image = '']) => !withoutDigest.has(image))
    .map(([, , image = '', digest]) => ({ image, digest: digest?.slice(1) ?? null }));
}

/** Returns the text with each base image pinned to its digest in `digests`. */
export function pinned(text: string, digests: ReadonlyMap<string, string>): string {
  return text.replaceAll(reference, (line, before, image, _, after) => {
    const digest = digests.get(image);
    return digest === undefined ? line : `${before}${image}@${digest}${after ?? ''}`;
  });
}
