import { isErrorCode, RockpoolError, type ErrorCode, type ErrorData } from '@rockpool/shared';
import type { Connection } from '../sqlite/connection.ts';
import type { Changelog } from './changelog.ts';
import type { StoredRejection, WantsFullResync } from './decoded-changeset.ts';
import { WITHDRAWN } from './withdrawn.ts';

/**
 * rockpool_parked: rejected changesets, which stay until the user retries, replaces or drops them.
 *
 * An entry that the user has resolved remains as closed until its changeset is pruned. Otherwise the changeset would be
 * sent again to a server restored from a backup. An entry with a sequence below 0 stays closed without its changeset,
 * so that the state of the write remains known.
 */
export class RejectedTable {
  private readonly connection: Connection;
  private readonly changelog: Changelog;

  constructor(connection: Connection, changelog: Changelog) {
    this.connection = connection;
    this.changelog = changelog;
  }

  count(): number {
    return this.connection.knownValue(
      'rockpool_parked',
      'SELECT count(*) FROM rockpool_parked WHERE closed = 0',
    ) as number;
  }

  /** Whether there are neither rejected changesets nor closed ones that could be sent again. */
  isEmpty(): boolean {
    return (
      this.connection.knownRow(
        'rockpool_parked',
        'SELECT 1 FROM rockpool_parked WHERE closed = 0 OR sequence > 0 LIMIT 1',
      ) === undefined
    );
  }

  /**
   * Rejected sequences above `after`, of one code; by default, all. A device may keep thousands of rejected changesets,
   * and a delivery must not read them all.
   */
  sequences(after: number = Number.MIN_SAFE_INTEGER, code: ErrorCode | null = null): Set<number> {
    if (this.count() === 0) return new Set();
    return new Set(
      this.connection
        .rows(
          'SELECT sequence FROM rockpool_parked WHERE closed = 0 AND sequence > ? AND code = ifnull(?, code)',
          after,
          code,
        )
        .map(([sequence]) => sequence as number),
    );
  }

  /** Changesets above `after` that the user has withdrawn; by default, all. The server may have undecided ones. */
  withdrawnAfter(after?: number): Set<number> {
    return this.sequences(after, WITHDRAWN);
  }

  /** The sequences that the server rejected with this code, oldest first. */
  rejectedWith(code: ErrorCode, lastAckedSequence: number): number[] {
    if (this.count() === 0) return [];
    return this.connection
      .rows(
        'SELECT sequence FROM rockpool_parked WHERE closed = 0 AND code = ? AND sequence <= ? ORDER BY sequence',
        code,
        lastAckedSequence,
      )
      .map(([sequence]) => sequence as number);
  }

  /** All rejected changesets, oldest first. */
  list(): StoredRejection[] {
    return this.connection
      .rows('SELECT sequence FROM rockpool_parked WHERE closed = 0 ORDER BY sequence')
      .map(([sequence]) => this.get(sequence as number));
  }

  /** Throws `changeset-not-rejected` if the changeset is not rejected. */
  get(sequence: number): StoredRejection {
    const [row] = this.connection.rows(
      'SELECT code, fields_json, parked_ms FROM rockpool_parked WHERE sequence = ? AND closed = 0',
      sequence,
    );
    const changeset = row === undefined ? null : this.changelog.read(sequence);
    if (row === undefined || changeset === null) throw new RockpoolError('changeset-not-rejected', { sequence });
    const [code, fieldsJson, rejectedMs] = row as [string, string, number];
    const fields: unknown = JSON.parse(fieldsJson);
    return { changeset, error: RockpoolError.fromData({ code, fields }).toData(), rejectedMs };
  }

  /**
   * Whether the user may not decide it yet: the server may still admit it, or the rows still show it. On a new site
   * that waits for a full resync, only the resync hides a withdrawn changeset (sync/withdrawals.ts): a retry before it
   * would find its values in the rows, and write nothing.
   */
  isUndecided({ changeset, error }: StoredRejection, lastAckedSequence: number, meta: WantsFullResync): boolean {
    return (
      changeset.sequence > lastAckedSequence ||
      (error.code === WITHDRAWN && lastAckedSequence === 0 && meta.wantsFullResync)
    );
  }

  /**
   * Adds a changeset with its reason, in the transaction that removes its changes from the tables. A changeset that is
   * in the table already keeps its first reason, unless it is closed.
   */
  add(sequence: number, reason: ErrorData, nowMs: number): void {
    const code = isErrorCode(reason.code) ? reason.code : 'internal';
    this.connection.run(
      `INSERT INTO rockpool_parked (sequence, code, fields_json, parked_ms) VALUES (?, ?, ?, ?)
        ON CONFLICT (sequence) DO UPDATE SET code = excluded.code, fields_json = excluded.fields_json, parked_ms = excluded.parked_ms, closed = 0 WHERE closed = 1`,
      sequence,
      code,
      JSON.stringify(reason.fields),
      nowMs,
    );
  }

  /** Removes the entry of a changeset that takes effect in the tables again. */
  remove(sequence: number): void {
    this.connection.run('DELETE FROM rockpool_parked WHERE sequence = ?', sequence);
  }

  /** Closes an entry that the user has retried, replaced or dropped. */
  close(sequence: number): void {
    this.connection.run('UPDATE rockpool_parked SET closed = 1 WHERE sequence = ?', sequence);
    if (sequence < 0) this.connection.run('DELETE FROM rockpool_changelog WHERE sequence = ?', sequence);
  }

  isClosed(sequence: number): boolean {
    return this.connection.value('SELECT closed FROM rockpool_parked WHERE sequence = ?', sequence) === 1;
  }

  /** Whether the user has closed an entry after this sequence. */
  hasResolvedAfter(sequence: number): boolean {
    return (
      !this.isEmpty() &&
      this.connection.value('SELECT 1 FROM rockpool_parked WHERE sequence > ? AND closed = 1 LIMIT 1', sequence) !==
        undefined
    );
  }
}
