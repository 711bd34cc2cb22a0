import { readFileSync } from 'node:fs';

export interface Runbook {
  readonly task: string;
  readonly commands: string;
}

export function readRunbooks(file: string): Runbook[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/^```sh runbook\n([^]*?)^```$/gmu)].map((block) => {
    const headings = [...text.slice(0, block.index).matchAll(/^#{2,3} (.*)$/gmu)];
    return { task: headings.at(-1)?.[1] ?? '', commands: block[1] ?? '' };
  });
}
