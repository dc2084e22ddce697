import { decodeKey, RockpoolError, VERSION_NAME_TABLE, type CellValue, type Schema } from '@rockpool/shared';
import type { Client } from '../client.ts';
import type { RowVersion, VersionName } from '../interface/row-history.ts';
import type { SqlStatement } from '../rpc/sql-statement.ts';
import type { SqlRow } from '../rpc/sql-value.ts';
import type { HistoryRow } from './history-row.ts';

const MAX_NAME_LENGTH = 100;
const MAX_NAMES = 100;

/** A version that can be named. */
export type NameableVersion = Pick<RowVersion, 'siteId' | 'sequence' | 'writtenMs'>;

/**
 * The names of the versions of one row and of its documents. `document` is a document column; null stands for the row.
 */
export interface VersionNames {
  /** Starts with the newest version. Empty if the schema has no table of names. */
  list(document: string | null): Promise<readonly VersionName[]>;
  /** Throws `version-name-missing`. */
  find(document: string | null, name: string): Promise<VersionName>;
  /** Throws `version-names-undeclared`, `version-name-invalid`, `version-name-taken` and `version-names-full`. */
  add(document: string | null, name: string, version: NameableVersion): Promise<void>;
  /** Throws `version-name-missing`, `version-name-invalid` and `version-name-taken`. */
  rename(document: string | null, name: string, newName: string): Promise<void>;
  /** Throws `version-name-missing`. */
  remove(document: string | null, name: string): Promise<void>;
  /** Selects all names; null if the schema has no table of names. */
  readonly statement: SqlStatement | null;
}

export function createVersionNames(
  client: Pick<Client, 'query' | 'transaction'>,
  schema: Schema,
  row: HistoryRow,
): VersionNames {
  const isDeclared = schema.tables.some(({ name, synced }) => synced && name === VERSION_NAME_TABLE);
  const table = row.table.name;
  const of = [table, keyText(row)];
  const read = async (source: Pick<Client, 'query'>, document: string | null): ReturnType<typeof readNames> =>
    isDeclared ? readNames(source, [...of, document ?? '']) : [];
  const write = async (change: Parameters<typeof client.transaction<void>>[0]): Promise<void> => {
    if (!isDeclared) throw new RockpoolError('version-names-undeclared');
    await client.transaction(change);
  };
  return {
    list: (document) => read(client, document),
    async find(document, name) {
      const found = (await read(client, document)).find((one) => one.name === trimmed(name));
      if (found === undefined) throw new RockpoolError('version-name-missing', { table });
      return found;
    },
    async add(document, given, { siteId, sequence, writtenMs }) {
      await write(async (tx) => {
        const name = validName(given);
        const names = await read(tx as Pick<Client, 'query'>, document);
        const same = names.find((one) => one.name === name);
        if (same?.siteId === siteId && same.sequence === sequence) return;
        if (same !== undefined) throw new RockpoolError('version-name-taken', { table });
        if (names.length >= MAX_NAMES) throw new RockpoolError('version-names-full', { table, maxNames: MAX_NAMES });
        await tx.execute(
          `INSERT INTO ${VERSION_NAME_TABLE} (table_name, row_key, document_column, name, site_id, sequence, written_ms)
           VALUES (?, ?, ?, ?, ?, ?, ?)`,
          [...of, document ?? '', name, siteId, sequence, Math.floor(writtenMs)],
        );
      });
    },
    async rename(document, name, given) {
      await write(async (tx) => {
        const newName = validName(given);
        const names = (await read(tx as Pick<Client, 'query'>, document)).map((one) => one.name);
        if (!names.includes(trimmed(name))) throw new RockpoolError('version-name-missing', { table });
        if (newName === trimmed(name)) return;
        if (names.includes(newName)) throw new RockpoolError('version-name-taken', { table });
        await tx.execute(
          `UPDATE ${VERSION_NAME_TABLE} SET name = ?
           WHERE table_name = ? AND row_key = ? AND document_column = ? AND name = ?`,
          [newName, ...of, document ?? '', trimmed(name)],
        );
      });
    },
    async remove(document, name) {
      await write(async (tx) => {
        const { changes } = await tx.execute(
          `DELETE FROM ${VERSION_NAME_TABLE} WHERE table_name = ? AND row_key = ? AND document_column = ? AND name = ?`,
          [...of, document ?? '', trimmed(name)],
        );
        if (changes === 0) throw new RockpoolError('version-name-missing', { table });
      });
    },
    statement: isDeclared
      ? { sql: `SELECT * FROM ${VERSION_NAME_TABLE} WHERE table_name = ? AND row_key = ?`, params: of }
      : null,
  };
}

function readNames(source: Pick<Client, 'query'>, named: readonly string[]): Promise<(VersionName & SqlRow)[]> {
  return source.query<VersionName & SqlRow>(
    `SELECT name, site_id AS siteId, sequence, written_ms AS writtenMs FROM ${VERSION_NAME_TABLE}
     WHERE table_name = ? AND row_key = ? AND document_column = ? ORDER BY written_ms DESC, sequence DESC, name`,
    named,
  );
}

/** Returns the versions with their names. */
export function withNames(versions: readonly RowVersion[], names: readonly VersionName[]): RowVersion[] {
  return versions.map((version) => ({
    ...version,
    names: names
      .filter(({ siteId, sequence }) => siteId === version.siteId && sequence === version.sequence)
      .map(({ name }) => name),
  }));
}

/** White space around a name is ignored. Plain JavaScript may pass no text, which names no version. */
function trimmed(given: string): string {
  return typeof given === 'string' ? given.trim() : '';
}

function validName(given: string): string {
  const name = trimmed(given);
  // Counts characters as SQLite does, which ends a text at a NUL character.
  const { length } = Array.from(name);
  if (length < 1 || length > MAX_NAME_LENGTH || name.includes('\0'))
    throw new RockpoolError('version-name-invalid', { length, maxLength: MAX_NAME_LENGTH });
  return name;
}

/** The key of a row as JSON: the same text for equal keys, and readable by SQL. */
function keyText({ keyBytes }: HistoryRow): string {
  return JSON.stringify(decodeKey(keyBytes).map(partJson));
}

function partJson(part: CellValue): unknown {
  if (typeof part === 'bigint') return Number.isSafeInteger(Number(part)) ? Number(part) : { integer: String(part) };
  if (part instanceof Uint8Array)
    return { hex: Array.from(part, (byte) => byte.toString(16).padStart(2, '0')).join('') };
  return part;
}
