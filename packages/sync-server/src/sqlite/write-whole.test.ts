import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { PageSums } from './page-sums.ts';

afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

/** The disk takes half of each write, or fails if nothing is left. */
function fillDisk(freeBytes: number): void {
  const { writeSync } = fs;
  let left = freeBytes;
  vi.spyOn(fs, 'writeSync').mockImplementation(((descriptor: number, bytes: Uint8Array, ...rest: number[]) => {
    const [offset = 0, length = 0, position = 0] = rest;
    if (left === 0) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC', syscall: 'write' });
    const written = writeSync(descriptor, bytes, offset, Math.min(left, Math.ceil(length / 2)), position);
    left -= written;
    return written;
  }) as typeof writeSync);
  syncBuiltinESMExports();
}

const SUMS = new Map(Array.from({ length: 100 }, (_, i) => [i + 1, i + 7]));

it('checksums are stored whole even if the disk accepts them in parts', () => {
  const sums = PageSums.open(join(temporaryFolder(), 'a.sqlite'), 4096);
  fillDisk(Infinity);
  sums.write(SUMS);
  expect([...sums.read(1, 100)]).toEqual([...SUMS.values()]);
  sums.close();
});

it('a write fails if a full disk stores only a part of it', () => {
  const sums = PageSums.open(join(temporaryFolder(), 'a.sqlite'), 4096);
  fillDisk(200);
  expect(() => sums.write(SUMS)).toThrow('ENOSPC');
  sums.close();
});
