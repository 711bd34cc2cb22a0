export interface GuideBlock {
  /** `sh`, `ts`, `python` or `json`. */
  readonly language: string;
  /**
   * The text after the language: `file=NAME` or empty. For JSON, the name of the schema in
   * `/openapi.json`, or `webhook` for the body of a webhook.
   */
  readonly attribute: string;
  readonly code: string;
}

export function blocksOf(markdown: string): GuideBlock[] {
  return [...markdown.matchAll(/^```(\S*) ?(.*)\n([^]*?)^```$/gm)].map(
    ([, language = '', attribute = '', code = '']) => ({ language, attribute, code }),
  );
}

export function programOf(blocks: readonly GuideBlock[], language: string): string {
  return blocks
    .filter((block) => block.language === language && block.attribute === '')
    .map(({ code }) => code)
    .join('\n');
}

export function fileOf(blocks: readonly GuideBlock[], name: string): string {
  const block = blocks.find(({ attribute }) => attribute === `file=${name}`);
  if (block === undefined) throw new Error(`the guide has no block file=${name}`);
  return block.code;
}
