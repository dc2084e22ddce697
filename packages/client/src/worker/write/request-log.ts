import { MERGE_REQUEST_PREFIX } from '../../rpc/branch-file.ts';
import type { WriteOutcome } from '../../rpc/write-request.ts';
import type { Changelog } from '../changelog/changelog.ts';
import { requestKey, timedKeysBefore, isTimedKey } from '../changelog/request-key.ts';
import type { Connection } from '../sqlite/connection.ts';
import { restoreResult, storeResult, type StoredResult } from './stored-results.ts';

/** How long a tab may wait and still repeat a request safely, for example on a laptop that was closed overnight. */
export const REQUEST_RETENTION_MS: number = 24 * 60 * 60 * 1000;

// Old requests are removed after this many new ones: rarely enough to cost nothing, often enough to keep the table
// small.
const PRUNE_EVERY = 1000;

/**
 * The number of newest requests that are kept at any age, because a clock that is set ahead would otherwise expire them
 * at once.
 */
const MIN_KEPT_REQUESTS = 1_000;

// Keeps the requests of merges, because the file of a merged branch may be kept for any length of time, and must not be
// merged again. Keeps the requests of pending changesets, because the app may still ask for their write states.
const PRUNE_SQL = `
  DELETE FROM rockpool_request WHERE iif(done_ms = 0, id < ?, done_ms < ?)
    AND id NOT GLOB '${MERGE_REQUEST_PREFIX}*'
    AND id NOT IN (SELECT id FROM rockpool_request WHERE done_ms = 0 ORDER BY id DESC LIMIT ${MIN_KEPT_REQUESTS})
    AND id NOT IN (SELECT id FROM rockpool_request WHERE done_ms > 0 ORDER BY done_ms DESC LIMIT ${MIN_KEPT_REQUESTS})
    AND ifnull(sequence, 0) <= (SELECT coalesce(max(up_to), 0) FROM rockpool_decided)`;

// Compares texts, because the key of a request is computed only when the request is stored. The version is the 13th
// digit.
const NEWEST_TIMED_SQL = `
  SELECT lower(hex(id)) FROM rockpool_request WHERE typeof(id) = 'blob' AND substr(hex(id), 13, 1) = '7' ORDER BY id DESC LIMIT 1`;

function uuidOfHex(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

export interface RequestLogParts {
  readonly connection: Connection;
  readonly changelog: Changelog;
  /** Synced tables and system tables, by id. */
  readonly tablesById: ReadonlyMap<number, { readonly name: string }>;
}

/**
 * rockpool_request: the requests carried out, with their outcomes. Used inside the transaction of the write. Every
 * write adds a row, so the table omits what is stored elsewhere: the time, which ids of clients contain, and the tables
 * of the changeset.
 */
export class RequestLog {
  private readonly parts: RequestLogParts;
  private readonly syncedNames: ReadonlySet<string>;
  private sincePruned = PRUNE_EVERY;
  /** No recorded UUID of version 7 sorts after this one. Null before the first request. */
  private newestTimed: string | null = null;

  constructor(parts: RequestLogParts) {
    this.parts = parts;
    this.syncedNames = new Set([...parts.tablesById.values()].map(({ name }) => name));
  }

  find(id: string): WriteOutcome | null {
    if (this.isNewest(id)) return null;
    const [row] = this.parts.connection.rows(
      'SELECT sequence, tables_json, results_json FROM rockpool_request WHERE id = ?',
      requestKey(id),
    );
    if (row === undefined) return null;
    const [sequence, tablesJson, resultsJson] = row as [number | null, string, string | null];
    const results = resultsJson === null ? [] : (JSON.parse(resultsJson) as StoredResult[]);
    const others = tablesJson === '' ? [] : (JSON.parse(tablesJson) as string[]);
    return {
      results: results.map(restoreResult),
      touchedTables: [...new Set([...this.tablesOf(sequence), ...others])],
      changes: [],
      sequence,
      repeated: true,
    };
  }

  /** Whether the id was created after all recorded ids, as nearly every write's id is. Then no row can have it. */
  private isNewest(id: string): boolean {
    this.newestTimed ??= uuidOfHex(String(this.parts.connection.value(NEWEST_TIMED_SQL) ?? ''));
    return isTimedKey(id) && id > this.newestTimed;
  }

  /** The tables of a changeset; none if it was pruned. */
  private tablesOf(sequence: number | null): string[] {
    const groups = sequence === null ? [] : (this.parts.changelog.read(sequence)?.groups ?? []);
    return groups.map(({ tableId }) => this.parts.tablesById.get(tableId)?.name ?? '');
  }

  record(id: string, { results, touchedTables, sequence }: WriteOutcome, nowMs: number): void {
    const { connection } = this.parts;
    const others = touchedTables.filter((name) => sequence === null || !this.syncedNames.has(name));
    connection.run(
      'INSERT INTO rockpool_request (id, done_ms, sequence, tables_json, results_json) VALUES (?, ?, ?, ?, ?)',
      requestKey(id),
      isTimedKey(id) ? 0 : nowMs,
      sequence,
      others.length === 0 ? '' : JSON.stringify(others),
      results.length === 0 ? null : JSON.stringify(results.map(storeResult)),
    );
    if (this.isNewest(id)) this.newestTimed = id;
    if (++this.sincePruned < PRUNE_EVERY) return;
    this.sincePruned = 0;
    const beforeMs = nowMs - REQUEST_RETENTION_MS;
    connection.run(PRUNE_SQL, timedKeysBefore(beforeMs), beforeMs);
  }
}
