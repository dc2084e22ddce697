import { bytesToHex } from '../bytes/bytes-to-hex.ts';
import { sha256 } from '../bytes/sha256.ts';
import { POLICY_DECLARATIONS } from '../merge/policies/policies.ts';
import type { TableSchema } from './schema.ts';
import { foreignKeyRulesIdentity } from './foreign-key-rule.ts';
import { uniqueRuleIdentity } from './unique-rule.ts';

/*
 * Tables and columns are sent and stored under ids that follow from their names alone: 32 bits of SHA-256. Ids
 * therefore need no registry, do not change when other columns come and go, and can be read without a schema.
 * validate.ts rejects two names with one id (one chance in 4 million for a database of 45 tables).
 */

export function tableIdOf(tableName: string): number {
  return nameToId(`table:${tableName}`);
}

/** The id of a column, unique within its table only. */
export function columnIdOf(columnName: string): number {
  return nameToId(`column:${columnName}`);
}

function nameToId(name: string): number {
  const digest = sha256(new TextEncoder().encode(name));
  const id = new DataView(digest.buffer, digest.byteOffset).getUint32(0, true);
  return id === 0 ? 1 : id; // 0 means "the row itself" (EXISTENCE_COLUMN_ID)
}

/**
 * Hash of the synced schema. Equal hashes mean that two sides can exchange rows of every synced table, and decide
 * constraints and merges alike. Local tables, indexes that are not unique, and the order of columns do not count.
 */
export function schemaHash(tables: readonly TableSchema[]): string {
  const synced = tables.filter((table) => table.synced).sort(byName);
  const digest = sha256(new TextEncoder().encode(JSON.stringify(synced.map(identityOf))));
  return bytesToHex(digest.subarray(0, 16));
}

/** The hash as earlier versions stored it, without the paths of rich texts. */
export function hashWithoutRichTexts(tables: readonly TableSchema[]): string {
  return schemaHash(
    tables.map((table) => ({
      ...table,
      merge: {
        ...table.merge,
        documents: table.merge.documents.map(({ richText: _richText, ...rule }) => rule),
      },
    })),
  );
}

/**
 * Everything about a table that the hash covers: its name, its columns, and then the parts that schema-outline.ts
 * names.
 */
export function identityOf(table: TableSchema): unknown[] {
  return [
    table.name,
    [...table.columns]
      .sort(byName)
      .map(({ name, type, notNull, defaultSql, generated }) => [
        name,
        type,
        notNull,
        defaultSql,
        generated?.sql ?? null,
      ]),
    table.primaryKey,
    table.uniques.map((columns) => JSON.stringify(columns)).sort(),
    table.foreignKeys
      .map((key) => JSON.stringify([key.columns, key.foreignTable, key.foreignColumns, key.onDelete, key.onUpdate]))
      .sort(),
    table.checks.map(({ sql }) => sql).sort(),
    [
      table.merge.deleteRule,
      uniqueRuleIdentity(table.merge.uniqueRule),
      ...POLICY_DECLARATIONS.map((declaration) =>
        table.merge[declaration.key].map((entry) => declaration.identityOf(entry)).sort(),
      ),
      ...foreignKeyRulesIdentity(table.merge.foreignKeyRules),
    ],
    table.indexes
      .filter(({ unique }) => unique)
      .map(({ expressions, whereSql }) => JSON.stringify([expressions, whereSql]))
      .sort(),
  ];
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}
