import { extentMedium } from '../extents/extent-medium.ts';
import { webLocks } from '../locks/web-locks.ts';
import { EXTENT_BYTES } from '../pages/extent-pool.ts';
import { indexedDbCatalog } from './indexeddb-extents.ts';
import { assertNotEphemeral, originFreeBytes } from './origin-storage.ts';
import type { StoreMedium } from './medium.ts';

const SMALLEST_EXTENT_BYTES = 8 * 1024;
const MAX_EXTENT_BYTES = 1024 * 1024;
const DESKTOP_BUDGET_BYTES = 256 * 1024 * 1024;
/** About a fifth of the memory that phones allow a tab before they end it. */
const MOBILE_BUDGET_BYTES = 64 * 1024 * 1024;

export interface IndexedDbOptions {
  /**
   * Limit of a database together with its open transaction, both in memory, in bytes. Default 256 MB, on phones 64 MB.
   * Beyond it: `storage-full`.
   */
  readonly memoryBudgetBytes?: number;
  /**
   * Extent size of a new database in bytes, a power of two from 8 KB to 1 MB. Default 64 KB. An existing database keeps
   * its own.
   */
  readonly extentBytes?: number;
}

/**
 * IndexedDB, for browsers and contexts without the origin-private file system. The whole database is in memory. COMMIT
 * returns before IndexedDB has the commit, and **only `storage.committed()` acknowledges it**. Opens writers only;
 * followers go through the leader.
 */
export function indexedDbMedium(options: IndexedDbOptions = {}): StoreMedium {
  const { extentBytes = EXTENT_BYTES } = options;
  if (
    extentBytes < SMALLEST_EXTENT_BYTES ||
    extentBytes > MAX_EXTENT_BYTES ||
    (extentBytes & (extentBytes - 1)) !== 0
  ) {
    throw new RangeError('extentBytes must be a power of two from 8192 to 1048576');
  }
  return extentMedium({
    kind: 'indexeddb',
    persistence: 'indexeddb',
    catalog: indexedDbCatalog(extentBytes),
    locks: webLocks,
    budgetBytes: options.memoryBudgetBytes ?? (isMobile() ? MOBILE_BUDGET_BYTES : DESKTOP_BUDGET_BYTES),
    freeBytes: originFreeBytes,
    async missing() {
      await assertNotEphemeral();
      const missing: string[] = [];
      if (typeof navigator === 'undefined' || navigator.locks === undefined) missing.push('Web Locks');
      if (typeof indexedDB === 'undefined') missing.push('IndexedDB');
      else if (!('databases' in indexedDB)) missing.push('indexedDB.databases');
      return missing;
    },
  });
}

function isMobile(): boolean {
  return typeof navigator !== 'undefined' && /Mobi|Android|iPhone|iPad/.test(navigator.userAgent);
}
