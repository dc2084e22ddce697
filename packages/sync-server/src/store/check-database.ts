import { quoteName, RockpoolError, SYSTEM_TABLES, syncedTables, type Schema } from '@rockpool/shared';
import { requireDocuments } from '../documents/require-documents.ts';
import { identityOwner } from './identity.ts';
import { storedSchema } from './inspect-database.ts';
import { openedSchema } from './schema-window.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';

/**
 * Returns the problems of a database file, one sentence each. Reads the whole file. `databaseId` is the id that the
 * file is stored under; `schema` is the schema that the server will run with, or null if unknown.
 */
export function databaseProblems(path: string, databaseId: string, schema: Schema | null): string[] {
  let sql: SqliteFile | null = null;
  try {
    sql = new SqliteFile(path, { readOnly: true });
    const integrity = sql.all('PRAGMA integrity_check').map(([line]) => String(line));
    if (integrity[0] !== 'ok') return integrity.map(() => 'SQLite reports that the file is damaged');
    const stored = storedSchema(sql);
    return [
      ...ownerProblems(sql, databaseId),
      ...logProblems(sql),
      ...rowProblems(sql, stored),
      ...(schema === null ? [] : schemaProblems(sql, stored, schema)),
    ];
  } catch (error) {
    return [
      `the file cannot be read (${error instanceof RockpoolError ? error.code : error instanceof Error ? error.name : typeof error})`,
    ];
  } finally {
    sql?.close();
  }
}

/**
 * A server does not open a file that belongs to a different id, because clients of one database would mistake the other
 * for theirs.
 */
function ownerProblems(sql: SqliteFile, databaseId: string): string[] {
  const owner = identityOwner(sql);
  return owner === null || owner === databaseId
    ? []
    : [
        `the file was copied or renamed by hand from the database ${owner}: move it out of the data directory, then add it with databases import`,
      ];
}

function logProblems(sql: SqliteFile): string[] {
  const [count, first, last] = sql.get('SELECT count(*), min(watermark), max(watermark) FROM rockpool_log') ?? [];
  return Number(count) > 0 && Number(last) - Number(first) + 1 !== Number(count) ? ['the log has gaps'] : [];
}

/**
 * Every row has a version record, and every version record that is not a tombstone has a row. A mismatch means that
 * another program has written to the table, and the rows that it wrote never sync.
 */
function rowProblems(sql: SqliteFile, schema: Schema): string[] {
  return [...syncedTables(schema), ...SYSTEM_TABLES].flatMap(({ id, name }) => {
    const rows = Number(sql.get(`SELECT count(*) FROM ${quoteName(name)}`)?.[0]);
    const versions = Number(
      sql.get('SELECT count(*) FROM rockpool_row_version WHERE table_id = ? AND image IS NULL', BigInt(id))?.[0],
    );
    return rows === versions
      ? []
      : [`${name}: sync knows ${versions} of ${rows} rows; another program has written to the table`];
  });
}

function schemaProblems(sql: SqliteFile, stored: Schema, schema: Schema): string[] {
  try {
    if (openedSchema(stored, schema).schema === schema) requireDocuments(sql, stored, schema);
    return [];
  } catch (error) {
    return error instanceof RockpoolError
      ? String(error.fields['problems']).split('\n')
      : ['the schema cannot be compared'];
  }
}
