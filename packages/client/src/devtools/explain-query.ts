import type { Client, SqlParam } from '@rockpool/client';

/** How one loop of a query is executed. */
export interface QueryLoop {
  /** The table or index that the loop reads; null for virtual tables and for rows that SQLite stores temporarily. */
  readonly reads: string | null;
  /** `operators` of Rockpool, which execute whole pages of a table or index, or the virtual machine of `SQLite`. */
  readonly execution: 'operators' | 'SQLite';
  /** Which part of the loop the operators execute for many rows at once: all of it, its filter, or none. */
  readonly batches: 'all' | 'filter' | 'none';
  /**
   * Why SQLite executes the loop. If `execution` is `operators`: why SQLite takes over the rows that reach a certain
   * instruction of the loop. Null if no reason is recorded.
   */
  readonly whyNot: string | null;
}

interface Instruction {
  readonly addr: number;
  readonly opcode: string;
  readonly p1: number;
  readonly p2: number;
  readonly comment: string | null;
}

const VIRTUAL_TABLE = 'a virtual table';

const LOOPS: ReadonlySet<string> = new Set(['Next', 'Prev', 'VNext']);

/** Explains the instructions that most often stop the operators. */
const REASONS: Readonly<Record<string, string>> = {
  DeferredSeek: 'the index does not contain every column of the query',
  MakeRecord: 'rows are sorted or stored',
  SorterInsert: 'the row is sorted',
  SeekGE: 'a join by an index of several columns or one that is not unique',
  SeekGT: 'a join by a range',
  SeekRowid: 'a join that is not a lookup',
  Rewind: 'a join that scans the other table',
  Gosub: 'a subquery, or groups in the order of an index',
  Yield: 'a subquery that yields rows',
  Once: 'a subquery',
  InitCoroutine: 'a subquery',
  Found: 'DISTINCT or IN',
  NotFound: 'DISTINCT or IN',
  Affinity: 'a comparison that converts types',
  AggStep: 'an aggregate function that the operators lack',
  Function: 'a function that the operators lack',
  Insert: 'a write',
  Delete: 'a write',
};

/**
 * Describes how the loops of a query are executed, in the order of its program: by Rockpool's operators or by SQLite's
 * virtual machine, and why operators do not execute a loop. The query is compiled, not run. Rejects with the errors of
 * `client.query`.
 *
 * ```ts
 * console.table(await explainQuery(client, 'SELECT sum(amount) FROM entry'));
 * ```
 */
export async function explainQuery(
  client: Client,
  sql: string,
  params: readonly SqlParam[] = [],
): Promise<QueryLoop[]> {
  const program = await client.query<Instruction>(`EXPLAIN ${sql}`, params);
  const roots = await client.query<{ name: string; rootpage: number }>('SELECT name, rootpage FROM sqlite_schema');
  const nameOf = new Map(roots.map(({ name, rootpage }) => [rootpage, name]));
  const rootOf = new Map(program.filter(({ opcode }) => opcode === 'OpenRead').map(({ p1, p2 }) => [p1, p2]));
  return program
    .filter(({ addr, opcode, p2 }) => LOOPS.has(opcode) && p2 < addr)
    .map(({ opcode, p1, comment }) => ({ reads: nameOf.get(rootOf.get(p1) ?? -1) ?? null, ...plan(opcode, comment) }));
}

/** Parses the description of a loop from sqlite/scan.c. */
function plan(opcode: string, comment: string | null): Omit<QueryLoop, 'reads'> {
  if (comment === null) {
    const whyNot =
      opcode === 'Prev' ? 'rows in descending order' : opcode === 'VNext' ? VIRTUAL_TABLE : 'rows that SQLite stores';
    return { execution: 'SQLite', batches: 'none', whyNot };
  }
  const [how = '', opcodeOfSqlite] = comment.split(':');
  return {
    execution: how.startsWith('operators') ? 'operators' : 'SQLite',
    batches: how.endsWith('filter in batches') ? 'filter' : how.endsWith('in batches') ? 'all' : 'none',
    whyNot:
      opcodeOfSqlite === undefined ? null : (REASONS[opcodeOfSqlite] ?? `the instruction ${opcodeOfSqlite} of SQLite`),
  };
}

/** Names what a loop reads. */
export function describeSource({ reads, whyNot }: QueryLoop): string {
  return reads ?? (whyNot === VIRTUAL_TABLE ? 'virtual table' : 'stored rows');
}

/** One line for a loop, for tables of the devtools. */
export function describeLoop(loop: QueryLoop): string {
  const { execution, batches, whyNot } = loop;
  const how = { all: ', in batches', filter: ', filter in batches', none: '' }[batches];
  return `${describeSource(loop)}: ${execution}${how}${whyNot === null ? '' : ` (${execution === 'SQLite' ? '' : 'SQLite: '}${whyNot})`}`;
}
