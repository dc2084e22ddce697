import { RockpoolError } from '@rockpool/shared';

/**
 * Repeats a read once if a forced WAL checkpoint invalidated its snapshot. The second read sees the current state, so
 * callers do not get that error. `isLostIn` finds the error in part of a result.
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
