import type { Schema } from '@rockpool/shared';
import { ROWID, type QueryDependencies, type TableDependency } from '../../rpc/query-dependencies.ts';
import type { SqlStatement } from '../../rpc/sql-statement.ts';
import type { SqlValue } from '../../rpc/sql-value.ts';
import type { Connection } from '../sqlite/connection.ts';
import { READ_POLICY } from '../sqlite/sql-policy.ts';
import { constantLookups } from './constant-lookups.ts';
import type { BTree, Instruction } from './query-program.ts';
import { viewDefinitions } from './view-definitions.ts';

const JOINS_BY_NAME = /\b(using|natural)\b/i;

/** What a query reads, according to SQLite: tables and columns from its compilation, rows from the compiled program. */
export function createDependencyReader(
  connection: Connection,
  schema: Schema,
): (statement: SqlStatement) => QueryDependencies {
  const bTreesNow = knownBTrees(connection);
  return ({ sql, params }) => {
    const bTrees = bTreesNow();
    const statement = connection.prepare(sql, READ_POLICY);
    try {
      const program = statement.readOnly ? programOf(connection, sql) : [];
      const lookups = constantLookups(program, bTrees, params);
      const columnsRead = new Map(statement.columnsRead);
      // SQLite reports neither the columns by which USING and NATURAL join, nor a table of which only these are read.
      // So any column may be read, as with ROWID.
      if (JOINS_BY_NAME.test(sql + viewDefinitions(connection)))
        for (const { opcode, p2 } of program) {
          const table = opcode === 'OpenRead' ? bTrees.get(p2)?.table : undefined;
          if (table !== undefined) columnsRead.set(table, new Set([...(columnsRead.get(table) ?? []), ROWID]));
        }
      return [...columnsRead].map(
        ([table, columns]) =>
          ofSearchIndex(schema, table, columns) ?? {
            // Commits name a table as the schema does. A migration may have written the name in another case.
            table: schema.tables.find(({ name }) => name.toLowerCase() === table.toLowerCase())?.name ?? table,
            columns: [...columns],
            lookups: lookups.get(table) ?? null,
          },
      );
    } finally {
      statement.release();
    }
  };
}

/**
 * The b-trees of the current schema. They are read again only after a schema change, because reading them takes longer
 * than most queries. The change may be that of another connection, and this one then forgets what its statements read.
 */
function knownBTrees(connection: Connection): () => ReadonlyMap<number, BTree> {
  let known: { readonly version: SqlValue | undefined; readonly bTrees: ReadonlyMap<number, BTree> } | null = null;
  return () => {
    const version = connection.value('PRAGMA schema_version');
    if (known === null || known.version !== version) {
      connection.dropIdleStatements();
      known = { version, bTrees: bTreesOf(connection) };
    }
    return known.bTrees;
  };
}

/** Commits name the tables that they change. A query of a search index depends on the columns that the index covers. */
function ofSearchIndex({ tables }: Schema, name: string, columns: ReadonlySet<string>): TableDependency | null {
  for (const table of tables) {
    const index = table.searchIndexes?.find((candidate) => candidate.name === name);
    if (index !== undefined)
      return {
        table: table.name,
        columns: columns.has(ROWID) ? [...index.columns, ROWID] : index.columns,
        lookups: null,
      };
  }
  return null;
}

function programOf(connection: Connection, sql: string): Instruction[] {
  const explain = connection.prepare(`EXPLAIN ${sql}`, READ_POLICY);
  try {
    const program: Instruction[] = [];
    while (explain.step()) {
      const [, opcode, p1, p2, p3, p4] = explain.readValues();
      program.push({ opcode, p1, p2, p3, p4: String(p4 ?? '') } as Instruction);
    }
    return program;
  } finally {
    explain.release();
  }
}

function bTreesOf(connection: Connection): ReadonlyMap<number, BTree> {
  const rows = connection.rows(
    `SELECT root.rootpage, root.tbl_name,
       iif(root.type = 'index', (SELECT name FROM pragma_index_xinfo(root.name) WHERE seqno = 0 AND coll = 'BINARY'),
         (SELECT name FROM pragma_table_xinfo(root.name) WHERE pk = 1 AND upper(type) = 'INTEGER'
           AND NOT EXISTS (SELECT 1 FROM pragma_index_list(root.name) WHERE origin = 'pk'))),
     EXISTS (SELECT 1 FROM pragma_index_xinfo(root.name) WHERE seqno = 0 AND "desc" = 0),
     EXISTS (SELECT 1 FROM pragma_index_xinfo(root.name) AS first JOIN pragma_table_xinfo(root.tbl_name) AS declared ON declared.name = first.name
       WHERE first.seqno = 0 AND upper(declared.type) IN ('INTEGER', 'REAL', 'NUMERIC'))
     FROM sqlite_schema AS root WHERE root.rootpage > 0`,
  );
  return new Map(
    rows.map(([root, table, firstColumn, ascends, ofNumbers]) => [
      root as number,
      { table, firstColumn, ascends: ascends === 1, ofNumbers: ofNumbers === 1 } as BTree,
    ]),
  );
}
