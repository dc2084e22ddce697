import { DEFAULT_MERGE_RULES, VERSION_NAME_TABLE, type MergeRules } from '@rockpool/shared';
import { sql } from 'drizzle-orm';
import {
  check,
  integer,
  primaryKey,
  sqliteTable,
  text,
  type SQLiteColumn,
  type SQLiteTableWithColumns,
} from 'drizzle-orm/sqlite-core';

interface ColumnFacts {
  readonly tableName: typeof VERSION_NAME_TABLE;
  readonly notNull: true;
  readonly hasDefault: false;
  readonly isPrimaryKey: false;
  readonly isAutoincrement: false;
  readonly hasRuntimeDefault: false;
  readonly generated: undefined;
}
interface TextFacts extends ColumnFacts {
  readonly dataType: 'string';
  readonly columnType: 'SQLiteText';
  readonly data: string;
  readonly driverParam: string;
  readonly enumValues: [string, ...string[]];
}
interface IntegerFacts extends ColumnFacts {
  readonly dataType: 'number';
  readonly columnType: 'SQLiteInteger';
  readonly data: number;
  readonly driverParam: number;
  readonly enumValues: undefined;
}

/**
 * The table of names that users give to versions of rows and documents, such as "before the move". Pass it to
 * `defineSchema` with the tables of the app, and `history.name` works. Its rows sync like any others, so names can be
 * given offline, and `validate` of the server applies to them.
 *
 * ```ts
 * export { versionName } from '@rockpool/client/schema';
 * ```
 */
export const versionName: SQLiteTableWithColumns<{
  name: typeof VERSION_NAME_TABLE;
  schema: undefined;
  dialect: 'sqlite';
  columns: {
    tableName: SQLiteColumn<TextFacts & { name: 'table_name' }>;
    rowKey: SQLiteColumn<TextFacts & { name: 'row_key' }>;
    documentColumn: SQLiteColumn<TextFacts & { name: 'document_column' }>;
    name: SQLiteColumn<TextFacts & { name: 'name' }>;
    siteId: SQLiteColumn<TextFacts & { name: 'site_id' }>;
    sequence: SQLiteColumn<IntegerFacts & { name: 'sequence' }>;
    writtenMs: SQLiteColumn<IntegerFacts & { name: 'written_ms' }>;
  };
}> = sqliteTable(
  VERSION_NAME_TABLE,
  {
    /** The table of the named row. */
    tableName: text('table_name').notNull(),
    /** The values of its key, as a JSON array; a BLOB is `{"hex": "…"}`. */
    rowKey: text('row_key').notNull(),
    /** The document column; empty for a version of the row. */
    documentColumn: text('document_column').notNull(),
    /** 1 to 100 characters. Part of the key, so two devices that give the same name concurrently create one row. */
    name: text().notNull(),
    /**
     * The site and sequence of the transaction. Unlike its watermark, they are known before the transaction is sent,
     * and do not change when the server is restored.
     */
    siteId: text('site_id').notNull(),
    sequence: integer().notNull(),
    /** When the version was written, in ms since 1970. */
    writtenMs: integer('written_ms').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.tableName, table.rowKey, table.documentColumn, table.name] }),
    check('version_name_length', sql`length(${table.name}) BETWEEN 1 AND 100`),
  ],
);

/** If two devices name a version concurrently, one naming wins as a whole. */
export const VERSION_NAME_RULES: MergeRules = {
  ...DEFAULT_MERGE_RULES,
  groups: [[versionName.siteId.name, versionName.sequence.name, versionName.writtenMs.name]],
};
