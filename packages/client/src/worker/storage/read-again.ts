import { RockpoolError } from '@rockpool/shared';

interface Reads {
  query(...args: never[]): unknown;
}

/**
 * A reader that slept through a forced checkpoint of the log finds in the middle of a read that its snapshot is gone. The next read sees the present state,
 * so the query is run once more before anybody hears of it.
 */
export function withReadAgain<Database extends Reads>(database: Database): Database {
  const query = (...args: Parameters<Database['query']>): unknown => {
    try {
      return database.query(...args);
    } catch (thrown) {
      if (!isSnapshotLost(thrown)) throw thrown;
      return database.query(...args);
    }
  };
  return { ...database, query };
}

/** As `storageFailure` says it. */
export function isSnapshotLost(thrown: unknown): boolean {
  return thrown instanceof RockpoolError && thrown.code === 'storage-lost' && thrown.fields['reason'] === 'snapshot';
}
