import { readFileSync } from 'node:fs';

/**
 * True if a process still runs (Linux only). False for a zombie, which has ended although its
 * number is still in use.
 */
export function isPidAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !stat.slice(stat.lastIndexOf(')')).startsWith(') Z');
  } catch {
    return false;
  }
}
