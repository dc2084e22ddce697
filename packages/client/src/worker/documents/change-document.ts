import {
  documentColumns,
  quoteName,
  RockpoolError,
  type DocumentRule,
  type Schema,
  type TableSchema,
} from '@rockpool/shared';
import { applyChange, canonicalJson, parseJson, PathRule, type JsonChange } from '@rockpool/shared/document';
import type { StatementOutcome } from '../../rpc/sql-statement.ts';
import type { WriteAction } from '../../rpc/write-action.ts';
import type { Connection } from '../sqlite/connection.ts';
import { encodeRows } from '../sqlite/encode-rows.ts';

type DocumentChange = Extract<WriteAction, { kind: 'change-document' }>;

/**
 * Applies a change to the current document, in an open and captured transaction, and returns the column's new value.
 * Throws `document-gone` if the row does not exist or the column is NULL, and `document-unknown` if the column is not a
 * document.
 */
export function changeDocument(connection: Connection, schema: Schema, change: DocumentChange): StatementOutcome {
  const { table: name, key, column, changeJson } = change;
  const { table, rule } = requireDocument(schema, change);
  const match = keyMatch(table);
  const text = connection.value(`SELECT ${quoteName(column)} FROM main.${quoteName(name)} WHERE ${match}`, ...key);
  if (typeof text !== 'string') throw new RockpoolError('document-gone', { table: name, column });
  const { value } = applyChange(parseJson(text, rule), JSON.parse(changeJson) as JsonChange, PathRule.root(rule));
  connection.run(
    `UPDATE main.${quoteName(name)} SET ${quoteName(column)} = ? WHERE ${match}`,
    canonicalJson(value),
    ...key,
  );
  return readDocument(connection, schema, change);
}

/**
 * Returns the value of a document column as the result of a change: one row with `text`, or none if the document does
 * not exist. Throws `document-unknown` if the column is not a document.
 */
export function readDocument(connection: Connection, schema: Schema, change: DocumentChange): StatementOutcome {
  const { table } = requireDocument(schema, change);
  const statement = connection.prepare(
    `SELECT ${quoteName(change.column)} AS "text" FROM main.${quoteName(table.name)} WHERE ${keyMatch(table)} AND ${quoteName(change.column)} IS NOT NULL`,
  );
  try {
    statement.bindParams(change.key);
    return { changes: 1, rows: encodeRows(statement) };
  } finally {
    statement.release();
  }
}

function requireDocument(
  schema: Schema,
  { table: name, column }: DocumentChange,
): { readonly table: TableSchema; readonly rule: DocumentRule } {
  const table = schema.tables.find((candidate) => candidate.name === name);
  const columnId = table?.columns.find((candidate) => candidate.name === column)?.id;
  const rule = table === undefined || columnId === undefined ? undefined : documentColumns(table).get(columnId);
  if (table === undefined || rule === undefined) throw new RockpoolError('document-unknown', { table: name, column });
  return { table, rule };
}

function keyMatch({ primaryKey }: TableSchema): string {
  return primaryKey.map((part) => `${quoteName(part)} = ?`).join(' AND ');
}
