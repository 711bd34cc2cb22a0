import { spawnSync } from 'node:child_process';
import { mkdirSync, statfsSync } from 'node:fs';

export interface Disk {
  readonly dir: string;
  /** False if no `tmpfs` could be mounted at `dir`. The disk then cannot be filled. */
  readonly canBeFull: boolean;
  fill(): void;
  free(): void;
  close(): void;
}

const sizeText = '3g';

/** Opens a `tmpfs` at `dir` if this process may mount one, otherwise an ordinary directory. */
export function openDisk(dir: string): Disk {
  mkdirSync(dir, { recursive: true, mode: 0o755 });
  const canBeFull = mount(['-t', 'tmpfs', '-o', `size=${sizeText},mode=755`, 'svc-faults', dir]);
  const close = (): void => {
    process.off('exit', close);
    if (canBeFull) spawnSync('umount', ['-l', dir]);
  };
  // A mount outlives its process, so a run that ends early must remove it.
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
