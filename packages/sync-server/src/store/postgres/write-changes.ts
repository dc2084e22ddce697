import { quoteName, type CellValue } from '@rockpool/shared';
import { NAMESPACE } from '../../postgres/connection.ts';
import {
  DATABASE_COLUMN,
  qualifiedName,
  sqlType,
  toPostgresText,
  type MirroredColumn,
  type MirroredTable,
} from './mirrored-table.ts';
import type { StoredChange } from './stored-change.ts';
import type { CommitPosition } from './working-copy.ts';

/** A statement with its parameters, which returns the number of changed rows. */
export interface WriteStatement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /**
   * The number of rows that the statement must change. Any other number means that PostgreSQL and the working copy
   * differ.
   */
  readonly rowCount: number;
}

/** Changes of one kind to the same columns of one table. */
interface ChangeGroup {
  readonly table: MirroredTable;
  readonly kind: StoredChange['kind'];
  /** The columns that the changes have values for. */
  readonly columns: readonly MirroredColumn[];
  readonly rows: (readonly CellValue[])[];
}

/*
 * Limits of the commits that are kept for other instances to follow. An instance that is further behind loads the whole
 * database again. A busy database commits a few hundred times a second, so the number limits what it keeps; for a quiet
 * one, an hour is sufficient, because instances poll every second.
 */
const KEPT_COMMITS = 2_000;
const KEPT_TIME = '1 hour';

/** Limits the work per commit, so that no commit waits long for the pruning of an old database. */
const PRUNED_BY_TIME = 100;

/** Advances the head, and writes and prunes the log of commits. `$1` is the database; `$2` to `$4` are the commit. */
const COMMIT_PARTS: readonly string[] = [
  `moved AS (UPDATE ${NAMESPACE}.rockpool_database SET head = $2, commit_id = $3 WHERE id = $1::text)`,
  `oldest AS (SELECT head, committed_at FROM ${NAMESPACE}.rockpool_commit WHERE ${DATABASE_COLUMN} = $1::text ORDER BY head LIMIT ${PRUNED_BY_TIME})`,
  // The last commit before that time is kept, because instances at that commit follow from it.
  `pruned AS (DELETE FROM ${NAMESPACE}.rockpool_commit WHERE ${DATABASE_COLUMN} = $1::text AND (head <= $2::bigint - ${KEPT_COMMITS}
     OR head < (SELECT max(head) FROM oldest WHERE committed_at < clock_timestamp() - interval '${KEPT_TIME}')))`,
  `logged AS (INSERT INTO ${NAMESPACE}.rockpool_commit (${DATABASE_COLUMN}, head, commit_id, changeset) VALUES ($1::text, $2, $3, $4))`,
];

/** Limits the memory and the time of one statement. PostgreSQL ends a statement after 60 s. */
const ROWS_PER_STATEMENT = 10_000;

/**
 * Yields the statements of a commit, to run in one transaction. Nearly every commit is one statement and so one round
 * trip. The last statement advances the head. `changeset` encodes the same changes as `changes`, for other instances.
 */
export function* commitStatements(
  databaseId: string,
  tables: ReadonlyMap<string, MirroredTable>,
  { head, commitId }: CommitPosition,
  changeset: Uint8Array,
  changes: readonly StoredChange[],
): Generator<WriteStatement> {
  let from = 0;
  for (; changes.length - from > ROWS_PER_STATEMENT; from += ROWS_PER_STATEMENT)
    yield rowStatement(databaseId, tables, changes.slice(from, from + ROWS_PER_STATEMENT));
  yield statement(tables, changes.slice(from), [databaseId, head, commitId, changeset], COMMIT_PARTS);
}

/** The statement that writes rows, without a commit. */
export function rowStatement(
  databaseId: string,
  tables: ReadonlyMap<string, MirroredTable>,
  changes: readonly StoredChange[],
): WriteStatement {
  return statement(tables, changes, [databaseId], []);
}

/** `firstParameters` begin with the database id and belong to `firstParts`. */
function statement(
  tables: ReadonlyMap<string, MirroredTable>,
  changes: readonly StoredChange[],
  firstParameters: readonly unknown[],
  firstParts: readonly string[],
): WriteStatement {
  const groups = groupChanges(tables, changes);
  const parameters = [...firstParameters];
  const parts = groups.map((group, part) => {
    const first = parameters.length + 1;
    group.columns.forEach((column, c) =>
      parameters.push(arrayText(group.rows.map((row) => toPostgresText(column, row[c] ?? null)))),
    );
    return `part${part} AS (${groupSql(group, first)} RETURNING 1)`;
  });
  const counts = groups.map((_, part) => `(SELECT count(*) FROM part${part})`);
  return {
    sql: `WITH ${[...firstParts, ...parts].join(',\n')}\nSELECT ${counts.length === 0 ? '0' : counts.join(' + ')}`,
    parameters,
    rowCount: changes.length,
  };
}

function groupChanges(tables: ReadonlyMap<string, MirroredTable>, changes: readonly StoredChange[]): ChangeGroup[] {
  const groups = new Map<string, ChangeGroup>();
  for (const { table: name, kind, values } of changes) {
    const table = tables.get(name);
    if (table === undefined) throw new Error(`a changeset names the table ${name}, which PostgreSQL does not have`);
    const present = table.columns.flatMap((column, i) => (values[i] === undefined ? [] : [{ column, i }]));
    const key = `${kind} ${name} ${present.map(({ i }) => i).join()}`;
    const group = groups.get(key) ?? { table, kind, columns: present.map(({ column }) => column), rows: [] };
    groups.set(key, group);
    group.rows.push(present.map(({ i }) => values[i] ?? null));
  }
  return [...groups.values()];
}

function groupSql({ table, kind, columns }: ChangeGroup, first: number): string {
  const name = qualifiedName(table.name);
  const given = columns.map((_, c) => `given${c}`);
  const rows = `unnest(${columns.map((column, c) => `$${first + c}::${sqlType(column)}[]`).join(', ')}) AS given (${given.join(', ')})`;
  const matches = columns.flatMap((column, c) =>
    column.isKey ? [`stored.${quoteName(column.name)} = ${given[c]}`] : [],
  );
  const where = [`stored.${DATABASE_COLUMN} = $1::text`, ...matches].join(' AND ');
  switch (kind) {
    case 'insert':
      return `INSERT INTO ${name} (${[DATABASE_COLUMN, ...columns.map((column) => quoteName(column.name))].join(', ')}) SELECT $1::text, ${given.join(', ')} FROM ${rows}`;
    case 'delete':
      return `DELETE FROM ${name} AS stored USING ${rows} WHERE ${where}`;
    case 'update': {
      const sets = columns.flatMap((column, c) => (column.isKey ? [] : [`${quoteName(column.name)} = ${given[c]}`]));
      return `UPDATE ${name} AS stored SET ${sets.join(', ')} FROM ${rows} WHERE ${where}`;
    }
  }
}

/** An array in PostgreSQL's text format. */
function arrayText(values: readonly (string | null)[]): string {
  return `{${values.map((value) => (value === null ? 'NULL' : `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`)).join(',')}}`;
}
