import { spawnSync } from 'node:child_process';
import { chmodSync, closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../tests/kit/temporary-folder.ts';

const CHUNK_BYTES = 64 * 1024;

/** A file system in memory with a fixed size, which can be filled. */
export class SmallDisk {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Null where this process may not mount a file system: only root on Linux may. */
  static mount(sizeMegabytes: number): SmallDisk | null {
    const folder = temporaryFolder();
    const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMegabytes}m`, 'tmpfs', folder]);
    if (status !== 0) return null;
    chmodSync(folder, 0o711);
    return new SmallDisk(folder);
  }

  /** Leaves no free byte. */
  fill(): void {
    const file = openSync(join(this.folder, 'ballast'), 'w');
    try {
      for (;;) writeSync(file, Buffer.alloc(CHUNK_BYTES));
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
    } finally {
      closeSync(file);
    }
  }

  free(): void {
    rmSync(join(this.folder, 'ballast'), { force: true });
  }

  unmount(): void {
    spawnSync('umount', ['--lazy', this.folder]);
  }
}
