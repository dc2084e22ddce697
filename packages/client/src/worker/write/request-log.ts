import type { WriteOutcome } from '../../rpc/write-request.ts';
import type { Connection } from '../sqlite/connection.ts';
import { requestKey } from '../changelog/request-key.ts';
import { restoreResult, storeResult, type StoredResult } from './stored-results.ts';

/** How long a tab may wait and still repeat a request safely, for example on a laptop closed overnight. */
export const REQUEST_RETENTION_MS: number = 24 * 60 * 60 * 1000;

// Old requests are removed after this many new ones: seldom enough to cost nothing, often enough to keep the table
// small.
const PRUNE_EVERY = 1000;

/** The number of newest requests kept at any age: a clock set ahead would otherwise expire them at once. */
const MIN_KEPT_REQUESTS = 1_000;

// Requests of pending changesets are kept, because their write states may still be asked for.
const PRUNE_SQL = `
  DELETE FROM rockpool_request WHERE done_ms < ? AND id NOT IN (SELECT id FROM rockpool_request ORDER BY done_ms DESC LIMIT ${MIN_KEPT_REQUESTS})
    AND ifnull(sequence, 0) <= (SELECT coalesce(max(up_to), 0) FROM rockpool_decided)`;

/** rockpool_request: the requests carried out, with their outcomes. Used inside the transaction of the write. */
export class RequestLog {
  private readonly connection: Connection;
  private sincePruned = PRUNE_EVERY;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  find(id: string): WriteOutcome | null {
    const [row] = this.connection.rows(
      'SELECT sequence, tables_json, results_json FROM rockpool_request WHERE id = ?',
      requestKey(id),
    );
    if (row === undefined) return null;
    const [sequence, tablesJson, resultsJson] = row as [number | null, string, string | null];
    const results = resultsJson === null ? [] : (JSON.parse(resultsJson) as StoredResult[]);
    return {
      results: results.map(restoreResult),
      touchedTables: JSON.parse(tablesJson) as string[],
      changes: [],
      sequence,
      repeated: true,
    };
  }

  record(id: string, { results, touchedTables, sequence }: WriteOutcome, nowMs: number): void {
    this.connection.run(
      'INSERT INTO rockpool_request (id, done_ms, sequence, tables_json, results_json) VALUES (?, ?, ?, ?, ?)',
      requestKey(id),
      nowMs,
      sequence,
      JSON.stringify(touchedTables),
      results.length === 0 ? null : JSON.stringify(results.map(storeResult)),
    );
    if (++this.sincePruned < PRUNE_EVERY) return;
    this.sincePruned = 0;
    this.connection.run(PRUNE_SQL, nowMs - REQUEST_RETENTION_MS);
  }
}
