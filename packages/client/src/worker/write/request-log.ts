import type { WriteOutcome } from '../../rpc/write-request.ts';
import type { Connection } from '../sqlite/connection.ts';
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
    AND coalesce(json_extract(outcome_json, '$.sequence'), 0) <= (SELECT coalesce(max(up_to), 0) FROM rockpool_decided)`;

/** `results` is omitted if there are none. */
type StoredOutcome = Omit<WriteOutcome, 'repeated' | 'results' | 'changes'> & {
  readonly results?: readonly StoredResult[];
};

/** rockpool_request: the requests carried out, with their outcomes. Used inside the transaction of the write. */
export class RequestLog {
  private readonly connection: Connection;
  private sincePruned = PRUNE_EVERY;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  find(id: string): WriteOutcome | null {
    const json = this.connection.value('SELECT outcome_json FROM rockpool_request WHERE id = ?', id);
    if (json === undefined) return null;
    const { results = [], touchedTables, sequence } = JSON.parse(json as string) as StoredOutcome;
    return { results: results.map(restoreResult), touchedTables, changes: [], sequence, repeated: true };
  }

  record(id: string, { results, touchedTables, sequence }: WriteOutcome, nowMs: number): void {
    const json = JSON.stringify({
      ...(results.length === 0 ? {} : { results: results.map(storeResult) }),
      touchedTables,
      sequence,
    } satisfies StoredOutcome);
    this.connection.run('INSERT INTO rockpool_request (id, done_ms, outcome_json) VALUES (?, ?, ?)', id, nowMs, json);
    if (++this.sincePruned < PRUNE_EVERY) return;
    this.sincePruned = 0;
    this.connection.run(PRUNE_SQL, nowMs - REQUEST_RETENTION_MS);
  }
}
