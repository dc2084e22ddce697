import { RockpoolError } from '@rockpool/shared';

/**
 * Reads a second time when a forced WAL checkpoint took the snapshot away in the middle of the read. The second read
 * sees the present state, so callers never get that error. `isLostIn` finds the error in part of a result.
 */
export function retryLostSnapshot<T>(read: () => T, isLostIn: (result: T) => boolean = () => false): T {
  try {
    const result = read();
    if (!isLostIn(result)) return result;
  } catch (thrown) {
    if (!isSnapshotLost(thrown)) throw thrown;
  }
  return read();
}

/** Recognises the error that `storageFailure` creates from `storage-snapshot-lost`. */
export function isSnapshotLost(thrown: unknown): boolean {
  return thrown instanceof RockpoolError && thrown.code === 'storage-lost' && thrown.fields['reason'] === 'snapshot';
}
