import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** Mounting needs a privilege that ordinary accounts lack. */
export const canMountDisk: boolean = process.getuid?.() === 0 && process.platform === 'linux';

/** A folder with its own file system, which a test can fill. */
export class SmallDisk {
  private readonly folder: string;
  private readonly filler: string;

  constructor(folder: string, sizeMiB: number) {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMiB}m`, 'none', folder]);
    this.folder = folder;
    this.filler = join(folder, 'filler');
  }

  /** Fills the disk until `empty`. */
  fill(): void {
    const file = openSync(this.filler, 'a');
    for (let size = 256 * 1024; size >= 1; size = Math.floor(size / 2)) {
      try {
        for (;;) writeSync(file, Buffer.alloc(size));
      } catch {
        // Not even this much fits.
      }
    }
    closeSync(file);
  }

  empty(): void {
    rmSync(this.filler, { force: true });
  }

  remove(): void {
    execFileSync('umount', ['-l', this.folder]);
  }
}
