import type { CopiesOfSource } from './generations.ts';

/** A stored state of a database, which can be restored. */
export interface ListedBackup {
  /** The time of the newest commit in it, ms since 1970. */
  readonly timeMs: number;
  /** The stored size. The size of a copy of changes excludes the earlier copies that it needs. */
  readonly sizeBytes: number;
  /** Whether it is the whole file, or the pages that changed since the copy before it. */
  readonly isWhole: boolean;
  /** The number of copies that are stored together. Each of them can be restored. */
  readonly copies: number;
}

/** Lists the backups of a source, newest first. */
export function listBackups({ generations }: Pick<CopiesOfSource, 'generations'>): ListedBackup[] {
  return generations
    .flatMap(({ base, copies }) =>
      // Levels 2 and 3 summarise copies that are also stored separately.
      base === null ? [] : [base, ...copies.filter(({ level }) => level === 0 || level === 1)],
    )
    .map(({ level, first, last, timeMs, sizeBytes }) => ({
      timeMs,
      sizeBytes,
      isWhole: level === 'base',
      copies: last - first + 1,
    }))
    .sort((a, b) => b.timeMs - a.timeMs);
}
