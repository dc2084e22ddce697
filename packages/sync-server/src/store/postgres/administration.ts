import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeSchema, quoteName, RockpoolError, syncedTables, type Schema } from '@rockpool/shared';
import { PostgresMembers } from '../../auth/postgres-members.ts';
import { InProcessBus } from '../../bus/in-process-bus.ts';
import { restoreDatabase } from '../copy-database.ts';
import { openDatabaseFile } from '../database-file.ts';
import { Connections } from '../../postgres/connection.ts';
import { NAMESPACE } from '../../postgres/namespace.ts';
import { DATABASE_COLUMN, qualifiedName } from './mirrored-table.ts';
import { PostgresStore, selectSql } from './postgres-store.ts';
import { typeChecks } from './typed-table.ts';

/** The administration of databases in PostgreSQL, also while instances run. */
export class PostgresAdministration {
  readonly schema: Schema;
  private readonly connections: Connections;
  private readonly directory: string;
  private readonly store: PostgresStore;

  private constructor(connections: Connections, schema: Schema) {
    this.connections = connections;
    this.schema = schema;
    this.directory = mkdtempSync(join(tmpdir(), 'rockpool-administration-'));
    this.store = new PostgresStore({
      connections,
      bus: new InProcessBus(),
      dataDir: this.directory,
      schema,
      measureCommit: () => undefined,
      onError: () => undefined,
    });
  }

  /**
   * Runs `work` with the existing store. Throws `storage-missing` if no server has created one, or
   * `database-unavailable` if PostgreSQL does not answer.
   */
  static async use<Result>(
    url: string,
    work: (administration: PostgresAdministration) => Promise<Result>,
  ): Promise<Result> {
    const connections = new Connections(url);
    try {
      const [[exists] = []] = await connections.query(`SELECT to_regclass('${NAMESPACE}.rockpool_store') IS NOT NULL`);
      if (exists !== true)
        throw new RockpoolError('storage-missing', { problem: 'no server has used this PostgreSQL database yet' });
      const [[schema] = []] = await connections.query(`SELECT schema FROM ${NAMESPACE}.rockpool_store`);
      const administration = new PostgresAdministration(connections, decodeSchema(schema as string));
      try {
        return await work(administration);
      } finally {
        await administration.store.close();
        rmSync(administration.directory, { recursive: true, force: true });
      }
    } finally {
      await connections.close();
    }
  }

  list(): Promise<string[]> {
    return this.store.list();
  }

  /** Passes `work` the path of a file with the current state of the database. Throws `storage-missing`. */
  async withCopy<Result>(databaseId: string, work: (path: string) => Result): Promise<Result> {
    if (!(await this.has(databaseId))) throw new RockpoolError('storage-missing', { database: databaseId });
    const database = await this.store.open(databaseId, { onCaughtUp: () => undefined, onLost: () => undefined });
    try {
      return work(this.store.pathOf(databaseId));
    } finally {
      database.close();
    }
  }

  /**
   * Imports a database file under a new log epoch. Throws `config-invalid` if the database exists, or if the file has
   * values that PostgreSQL's columns cannot store.
   */
  async import(databaseId: string, from: string): Promise<void> {
    const path = join(this.directory, 'import.sqlite');
    restoreDatabase(from, path, databaseId);
    const { sql } = openDatabaseFile(path, this.schema);
    try {
      const problems = syncedTables(this.schema).flatMap((table) =>
        typeChecks(table).flatMap((check) =>
          sql.get(`SELECT 1 FROM ${quoteName(table.name)} WHERE NOT (${check.sql}) LIMIT 1`) === undefined
            ? []
            : [`${table.name}: ${check.problem}`],
        ),
      );
      if (await this.has(databaseId)) problems.push(`${databaseId} already exists`);
      if (problems.length > 0)
        throw new RockpoolError('config-invalid', { count: problems.length, problems: problems.join('\n') });
      await this.store.fill(databaseId, (table) => sql.rows(selectSql(table)));
    } finally {
      sql.close();
    }
  }

  /**
   * Deletes a database. Instances that have it open close it; a client that connects again creates a new one. Throws
   * `storage-missing`.
   */
  async delete(databaseId: string): Promise<void> {
    if (!(await this.has(databaseId))) throw new RockpoolError('storage-missing', { database: databaseId });
    const tables = [...(await this.store.ready()).keys(), 'rockpool_commit'];
    await this.connections.transaction(databaseId, 'READ WRITE', async (connection) => {
      await connection.query(`DELETE FROM ${NAMESPACE}.rockpool_database WHERE id = $1`, [databaseId]);
      for (const table of tables)
        await connection.query(`DELETE FROM ${qualifiedName(table)} WHERE ${DATABASE_COLUMN} = $1`, [databaseId]);
      return { commit: true, result: undefined };
    });
    await new PostgresMembers(this.connections, () => Promise.resolve()).forgetDatabase(databaseId);
  }

  /** Returns settings of PostgreSQL that break the durability of acknowledgements or the separation of databases. */
  async problems(): Promise<string[]> {
    const [[bypasses, fsync] = []] = await this.connections.query(
      `SELECT rolsuper OR rolbypassrls, current_setting('fsync') FROM pg_roles WHERE rolname = current_user`,
    );
    return [
      ...(bypasses === true
        ? ['the role bypasses row-level security: give the server a role that is neither superuser nor BYPASSRLS']
        : []),
      ...(fsync === 'off' ? ['PostgreSQL runs with fsync = off: a power cut loses acknowledged changes'] : []),
    ];
  }

  private async has(databaseId: string): Promise<boolean> {
    return (await this.list()).includes(databaseId);
  }
}
