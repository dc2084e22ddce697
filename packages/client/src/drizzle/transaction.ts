import type { TablesRelationalConfig } from 'drizzle-orm';
import { SQLiteTransaction, type SQLiteSession } from 'drizzle-orm/sqlite-core';
import type { RelationalDialect } from './relational-dialect.ts';
import type { WriteResult } from './write-result.ts';

/** Tables and relations in Drizzle's form for `db.query`. */
export interface RelationalSchema<Relations extends TablesRelationalConfig> {
  readonly fullSchema: Record<string, unknown>;
  readonly schema: Relations;
  readonly tableNamesMap: Record<string, string>;
}

/** The argument of `db.transaction`'s body: all of Drizzle, within one transaction of the client. */
export class RockpoolTransaction<
  Tables extends Record<string, unknown>,
  Relations extends TablesRelationalConfig,
> extends SQLiteTransaction<'async', WriteResult, Tables, Relations> {
  constructor(
    dialect: RelationalDialect,
    session: SQLiteSession<'async', WriteResult, Tables, Relations>,
    relations: RelationalSchema<Relations> | undefined,
  ) {
    super('async', dialect, session, relations);
  }
}
