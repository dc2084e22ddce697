import { RockpoolError } from '@rockpool/shared';

/**
 * A reader that slept through a forced checkpoint of the log finds in the middle of a read that its snapshot is gone.
 * The next read sees the present state, so it is read once more before anybody hears of it. `isLostIn`: whether a
 * result says so of a part of it.
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

/** As `storageFailure` says it. */
export function isSnapshotLost(thrown: unknown): boolean {
  return thrown instanceof RockpoolError && thrown.code === 'storage-lost' && thrown.fields['reason'] === 'snapshot';
}
