/** References to base images in a Dockerfile or a compose file. */

const reference =
  /^(\s*(?:FROM|image:)\s+)([a-z0-9./-]+(?::[\w.-]+)?)(@sha256:[0-9a-f]{64})?(\s.*)?$/gm;
/** Built here: it has no digest before it is built. */
const own = 'submission-service';

export interface ImageReference {
  /** Name and tag. */
  readonly image: string;
  /** `sha256:…`; null if the reference may mean another image tomorrow. */
  readonly digest: string | null;
}

export function imagesIn(text: string): ImageReference[] {
  return [...text.matchAll(reference)]
    .filter(([, , image]) => image !== own)
    .map(([, , image = '', digest]) => ({ image, digest: digest?.slice(1) ?? null }));
}

/** The text with each base image at the digest that `digests` has for it. */
export function pinned(text: string, digests: ReadonlyMap<string, string>): string {
  return text.replaceAll(reference, (line, before, image, _, after) => {
    const digest = digests.get(image);
    return digest === undefined ? line : `${before}${image}@${digest}${after ?? ''}`;
  });
}
