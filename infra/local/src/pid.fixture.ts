import { readFileSync } from 'node:fs';

/**
 * Whether a process (of Linux) still runs. One that has ended and waits for its parent to take
 * note of it does not, though its number is still taken.
 */
export function isPidAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !stat.slice(stat.lastIndexOf(')')).startsWith(') Z');
  } catch {
    return false;
  }
}
