import { RockpoolError } from '@rockpool/shared';
import type { QueryResult } from '../../rpc/reads.ts';

interface Reads {
  query(...args: never[]): unknown;
  queryAll(...args: never[]): readonly (QueryResult | null)[];
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
  const queryAll = (...args: Parameters<Database['queryAll']>): readonly (QueryResult | null)[] => {
    const results = database.queryAll(...args);
    return results.some((result) => result !== null && 'error' in result && isSnapshotLost(RockpoolError.fromData(result.error))) ? database.queryAll(...args) : results;
  };
  return { ...database, query, queryAll };
}

/** As `storageFailure` says it. */
export function isSnapshotLost(thrown: unknown): boolean {
  return thrown instanceof RockpoolError && thrown.code === 'storage-lost' && thrown.fields['reason'] === 'snapshot';
}
