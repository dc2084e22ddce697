import type { SqlParam } from '../../rpc/sql-value.ts';
import type { Lookup } from '../../rpc/query-dependencies.ts';
import {
  constantKey,
  isKnown,
  SEARCHES,
  writersOf,
  type BTree,
  type Instruction,
  type Writers,
} from './query-program.ts';
import { rangeLookup } from './range-lookup.ts';

/*
 * Which rows of a table a query may read, according to the program that SQLite compiled it to (EXPLAIN). A query that
 * finds rows by one value,
 *
 *   OpenRead 2 (index on account_id)   Variable 1 → r1   SeekGE 2 r1 … IdxGT 2 r1   DeferredSeek 2 → 0
 *
 * never reads a row with a different value. That holds for a table if every cursor on it moves only in this way, by
 * values that are known before the query runs. (For ranges, see range-lookup.ts.) If the program has any unknown
 * instruction, all rows of all tables count, so a new version of SQLite can make this analysis useless but not wrong.
 */

const SEEKS = new Set(['SeekGE', 'SeekGT', 'SeekLE', 'SeekLT']);
const BOUNDS = new Set(['IdxGE', 'IdxGT', 'IdxLE', 'IdxLT']);
const BY_ROWID = new Set(['SeekRowid', 'NotExists']);
/** Opcodes whose first operand is a cursor and which move it anywhere. */
const ANYWHERE = new Set(['Rewind', 'Last', ...SEARCHES]);

/**
 * For each table, the values that the query uses to look up rows. If a table has no entry, the query may read any of
 * its rows.
 */
export function constantLookups(
  program: readonly Instruction[],
  bTreeByRoot: ReadonlyMap<number, BTree>,
  params: readonly SqlParam[],
): ReadonlyMap<string, readonly Lookup[]> {
  const lookups = new Map<string, Lookup[]>();
  if (!program.every(isKnown)) return lookups;
  const writers = writersOf(program);
  const constants = constantRegisters(writers, params);
  const cursors = openCursors(program, bTreeByRoot);
  const wholeTables = new Set<string>();
  for (const [cursor, bTree] of cursors) {
    const found =
      lookupOf(program, cursor, bTree, constants, cursors) ?? rangeLookup(program, cursor, bTree, writers, params);
    if (found === null) wholeTables.add(bTree.table);
    else if (found !== 'follows') lookups.set(bTree.table, [...(lookups.get(bTree.table) ?? []), found]);
  }
  for (const table of wholeTables) lookups.delete(table);
  return lookups;
}

/** Registers that hold one known value through the whole program. */
function constantRegisters(writers: Writers, params: readonly SqlParam[]): ReadonlyMap<number, string> {
  const constants = new Map<number, string>();
  for (const [register, [only, ...others]] of writers) {
    const key = others.length > 0 || only === undefined ? null : constantKey(only, params);
    if (key !== null) constants.set(register, key);
  }
  return constants;
}

/**
 * The b-trees of the program's cursors, by cursor number. If the program opens one number on two b-trees, the entry has
 * no first column, so any row of its table counts as read.
 */
function openCursors(
  program: readonly Instruction[],
  bTreeByRoot: ReadonlyMap<number, BTree>,
): ReadonlyMap<number, BTree> {
  const cursors = new Map<number, BTree>();
  for (const { opcode, p1, p2, p3 } of program) {
    if ((opcode !== 'OpenRead' && opcode !== 'ReopenIdx') || p3 !== 0) continue;
    const bTree = bTreeByRoot.get(p2);
    if (bTree === undefined) continue;
    const known = cursors.get(p1);
    cursors.set(p1, known === undefined || known === bTree ? bTree : { ...bTree, firstColumn: null });
  }
  return cursors;
}

/**
 * The one value by which a cursor finds rows; `follows` if it moves only to rows that such a cursor has found; null if
 * it may move anywhere.
 */
function lookupOf(
  program: readonly Instruction[],
  cursor: number,
  { table, firstColumn }: BTree,
  constants: ReadonlyMap<number, string>,
  cursors: ReadonlyMap<number, BTree>,
): Lookup | 'follows' | null {
  const keys = new Set<string>();
  let isBounded = false;
  let follows = false;
  for (const { opcode, p1, p3, p4 } of program) {
    // The cursor of the table follows that of its index, which is checked separately.
    if (opcode === 'DeferredSeek' && p3 === cursor && cursors.get(p1)?.table === table) follows = true;
    if (p1 !== cursor) continue;
    if (ANYWHERE.has(opcode)) return null;
    const isBound = BOUNDS.has(opcode);
    if (isBound || SEEKS.has(opcode) || BY_ROWID.has(opcode)) {
      if (!BY_ROWID.has(opcode) && Number(p4) < 1) return null;
      const key = constants.get(p3);
      if (key === undefined) return null;
      keys.add(key);
      isBounded ||= isBound || BY_ROWID.has(opcode);
    }
  }
  const [key, ...others] = keys;
  if (key === undefined) return follows ? 'follows' : null;
  if (others.length > 0 || !isBounded || firstColumn === null) return null;
  return { column: firstColumn, key };
}
