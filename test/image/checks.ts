export interface Checked {
  readonly name: string;
  readonly holds: boolean;
}

export function check(name: string, holds: boolean, figure: string): void {
  process.stdout.write(`${holds ? 'ok     ' : 'BROKEN '} ${name}: ${figure}\n`);
  const checked: Checked = { name, holds };
  process.send?.(checked);
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

export const megabyte = 1_000_000;
export const imageBytesMax = 250 * megabyte;
export const startMsMax = 2_000;
