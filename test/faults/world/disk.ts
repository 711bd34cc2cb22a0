import { spawnSync } from 'node:child_process';
import { mkdirSync, statfsSync } from 'node:fs';

/** A directory on a disk of its own that can be made full and given room again. */
export interface Disk {
  readonly dir: string;
  /** False where this machine forbids a disk of one's own: then it cannot be made full. */
  readonly canBeFull: boolean;
  fill(): void;
  free(): void;
  close(): void;
}

const sizeText = '3g';

/**
 * A `tmpfs` where this process may mount one (a full disk is then a matter of its size), else an
 * ordinary directory. In memory, `fsync` costs nothing: the runs are about processes that die, not
 * about machines that do.
 */
export function openDisk(dir: string): Disk {
  mkdirSync(dir, { recursive: true, mode: 0o755 });
  const canBeFull = mount(['-t', 'tmpfs', '-o', `size=${sizeText},mode=755`, 'svc-faults', dir]);
  const close = (): void => {
    process.off('exit', close);
    if (canBeFull) spawnSync('umount', ['-l', dir]);
  };
  // A mount outlives its process: a run that is ended early must not leave it.
  process.on('exit', close);
  return {
    dir,
    canBeFull,
    fill() {
      const { blocks, bfree, bsize } = statfsSync(dir);
      const usedBytes = (blocks - bfree) * bsize;
      mount(['-o', `remount,size=${usedBytes}`, dir]);
    },
    free: () => void mount(['-o', `remount,size=${sizeText}`, dir]),
    close,
  };
}

function mount(args: readonly string[]): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  return spawnSync('mount', args).status === 0;
}
