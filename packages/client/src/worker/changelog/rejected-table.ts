import { isErrorCode, RockpoolError, type ErrorCode, type ErrorData } from '@rockpool/shared';
import type { Connection } from '../sqlite/connection.ts';
import type { Changelog, DecodedChangeset } from './changelog.ts';

/** A changeset that does not count, and why. */
export interface StoredRejection {
  readonly changeset: DecodedChangeset;
  readonly error: ErrorData;
  readonly rejectedMs: number;
}

/**
 * rockpool_parked: what was refused and waits for a decision of the user. What it decided about stays as closed until
 * the changeset is pruned: a server that was restored from a backup would be sent it again otherwise. Below 0 it stays
 * without its changeset, for whoever asks what became of the write.
 */
export class RejectedTable {
  private readonly connection: Connection;
  private readonly changelog: Changelog;

  constructor(connection: Connection, changelog: Changelog) {
    this.connection = connection;
    this.changelog = changelog;
  }

  count(): number {
    return this.connection.value('SELECT count(*) FROM rockpool_parked WHERE closed = 0') as number;
  }

  /** Nothing is rejected, nor was anything that may be sent once more. */
  isEmpty(): boolean {
    return (
      this.connection.value('SELECT 1 FROM rockpool_parked WHERE closed = 0 OR sequence > 0 LIMIT 1') === undefined
    );
  }

  /**
   * Those with numbers above `after`; default all. A device may have thousands that wait for the user: what is done
   * with each delivery must not read them all.
   */
  sequences(after: number = Number.MIN_SAFE_INTEGER): Set<number> {
    return new Set(
      this.connection
        .rows('SELECT sequence FROM rockpool_parked WHERE closed = 0 AND sequence > ?', after)
        .map(([sequence]) => sequence as number),
    );
  }

  /** Those that the server has rejected with a code, oldest first. */
  rejectedWith(code: ErrorCode, lastAckedSequence: number): number[] {
    return this.connection
      .rows(
        'SELECT sequence FROM rockpool_parked WHERE closed = 0 AND code = ? AND sequence <= ? ORDER BY sequence',
        code,
        lastAckedSequence,
      )
      .map(([sequence]) => sequence as number);
  }

  /** Oldest first. */
  list(): StoredRejection[] {
    return this.connection
      .rows('SELECT sequence FROM rockpool_parked WHERE closed = 0 ORDER BY sequence')
      .map(([sequence]) => this.get(sequence as number));
  }

  /** Throws `changeset-not-rejected`. */
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
   * Call in the transaction that takes its changes out of the tables. A changeset that is rejected already keeps its
   * first reason.
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

  /** It counts after all. */
  remove(sequence: number): void {
    this.connection.run('DELETE FROM rockpool_parked WHERE sequence = ?', sequence);
  }

  /** The user has decided: it is off the list for good. */
  close(sequence: number): void {
    this.connection.run('UPDATE rockpool_parked SET closed = 1 WHERE sequence = ?', sequence);
    if (sequence < 0) this.connection.run('DELETE FROM rockpool_changelog WHERE sequence = ?', sequence);
  }

  /** Whether the user has decided about this one. */
  isClosed(sequence: number): boolean {
    return this.connection.value('SELECT closed FROM rockpool_parked WHERE sequence = ?', sequence) === 1;
  }

  /** Whether the user has decided about any of the changesets after this one. */
  hasClosedAfter(sequence: number): boolean {
    return (
      this.connection.value('SELECT 1 FROM rockpool_parked WHERE sequence > ? AND closed = 1 LIMIT 1', sequence) !==
      undefined
    );
  }
}
