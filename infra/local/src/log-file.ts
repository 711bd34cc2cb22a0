import { closeSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import path from 'node:path';

export interface LogFile {
  readonly file: string;
  write(line: string): void;
  close(): void;
}

/** Each process keeps at most two log files of this size. */
const logBytesMax = 20 * 1024 * 1024;

/**
 * Opens and empties `<name>.log`. When the file reaches `logBytesMax`, it is renamed to
 * `<name>.1.log`, and a new `<name>.log` begins.
 */
export function openLogFile(dir: string, name: string): LogFile {
  mkdirSync(dir, { recursive: true });
  const file = path.join(dir, `${name}.log`);
  let descriptor = openSync(file, 'w', 0o600);
  let writtenBytes = 0;
  let isOpen = true;
  return {
    file,
    write(line) {
      if (!isOpen) return;
      writtenBytes += writeSync(descriptor, `${line}\n`);
      if (writtenBytes < logBytesMax) return;
      closeSync(descriptor);
      renameSync(file, path.join(dir, `${name}.1.log`));
      descriptor = openSync(file, 'w', 0o600);
      writtenBytes = 0;
    },
    close() {
      if (isOpen) closeSync(descriptor);
      isOpen = false;
    },
  };
}
