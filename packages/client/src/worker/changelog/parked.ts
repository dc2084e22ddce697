import { isErrorCode, RockpoolError, type ErrorData } from '@rockpool/shared';
import type { Connection } from '../sqlite/connection.ts';
import type { Changelog, DecodedChangeset } from './changelog.ts';

/** A changeset that does not count, and why. */
export interface ParkedChangeset {
  readonly changeset: DecodedChangeset;
  readonly error: ErrorData;
  readonly parkedMs: number;
}

/** rockpool_parked: what was refused and waits for a decision of the user. */
export class Parked {
  private readonly connection: Connection;
  private readonly changelog: Changelog;

  constructor(connection: Connection, changelog: Changelog) {
    this.connection = connection;
    this.changelog = changelog;
  }

  count(): number {
    return this.connection.value('SELECT count(*) FROM rockpool_parked') as number;
  }

  sequences(): Set<number> {
    return new Set(this.connection.rows('SELECT sequence FROM rockpool_parked').map(([sequence]) => sequence as number));
  }

  /** Oldest first. */
  list(): ParkedChangeset[] {
    return this.connection.rows('SELECT sequence FROM rockpool_parked ORDER BY sequence').map(([sequence]) => this.get(sequence as number));
  }

  /** Throws `internal` when this changeset is not parked. */
  get(sequence: number): ParkedChangeset {
    const [row] = this.connection.rows('SELECT code, fields_json, parked_ms FROM rockpool_parked WHERE sequence = ?', sequence);
    const changeset = row === undefined ? null : this.changelog.read(sequence);
    if (row === undefined || changeset === null) throw new RockpoolError('internal', { problem: 'this changeset is not parked', sequence });
    const [code, fieldsJson, parkedMs] = row as [string, string, number];
    const fields: unknown = JSON.parse(fieldsJson);
    return { changeset, error: RockpoolError.fromData({ code, fields }).toData(), parkedMs };
  }

  /** Call in the transaction that takes its changes out of the tables. A changeset that is parked already keeps its first reason. */
  park(sequence: number, reason: ErrorData, nowMs: number): void {
    const code = isErrorCode(reason.code) ? reason.code : 'internal';
    this.connection.run(
      'INSERT INTO rockpool_parked (sequence, code, fields_json, parked_ms) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
      sequence,
      code,
      JSON.stringify(reason.fields),
      nowMs,
    );
  }

  /** Forgets it for good. */
  drop(sequence: number): void {
    this.connection.run('DELETE FROM rockpool_parked WHERE sequence = ?', sequence);
  }
}
