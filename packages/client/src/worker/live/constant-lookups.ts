import type { SqlParam } from '../../rpc/sql-value.ts';
import { lookupKey } from '../../rpc/lookup-key.ts';
import type { Lookup } from '../../rpc/query-dependencies.ts';

/*
 * Which rows of a table a query can come to see, read off the program that SQLite compiled it to (EXPLAIN). A query that finds rows by one value,
 *
 *   OpenRead 2 (index on account_id)   Variable 1 → r1   SeekGE 2 r1 … IdxGT 2 r1   DeferredSeek 2 → 0
 *
 * never looks at a row with another value. That holds for a table when every cursor on it is moved in this way only, with values that are known before
 * the query runs. Whatever is not recognised here makes all rows of all tables count, so a new version of SQLite can make this useless, not wrong.
 */

/** One instruction of a program. */
export interface Instruction {
  readonly opcode: string;
  readonly p1: number;
  readonly p2: number;
  readonly p3: number;
  readonly p4: string;
}

/** A b-tree of a table, by its root page. */
export interface BTree {
  readonly table: string;
  /** The column that its keys begin with, where that compares bytes; null for an expression, another collation, or rowids that are no column. */
  readonly firstColumn: string | null;
}

/** Registers that an instruction writes. Opcodes that are not here are not known. */
const NOTHING = (): readonly number[] => [];
const P1 = ({ p1 }: Instruction): readonly number[] => [p1];
const P2 = ({ p2 }: Instruction): readonly number[] => [p2];
const P3 = ({ p3 }: Instruction): readonly number[] => [p3];
const span = (first: number, count: number): number[] => Array.from({ length: Math.max(1, count) }, (_, index) => first + index);

const OUTPUTS: Readonly<Record<string, (instruction: Instruction) => readonly number[]>> = {
  ...Object.fromEntries(
    // Jumps, comparisons, rows and cursors. `Affinity` and its kind change a value in a way that `lookupKey` does not see.
    (
      'Init Goto Halt Transaction Explain Noop Return EndCoroutine Once If IfNot IsNull NotNull Eq Ne Lt Le Gt Ge ElseEq Compare Jump Permutation ' +
      'MustBeInt ResultRow Affinity RealAffinity CollSeq HaltIfNull Trace IfPos IfNotZero DecrJumpZero Expire Filter FilterAdd Close ' +
      'OpenRead ReopenIdx OpenEphemeral OpenAutoindex OpenDup OpenPseudo SorterOpen SorterInsert SorterSort SorterNext SorterCompare ResetSorter Sort ' +
      'Rewind Last Next Prev SeekGE SeekGT SeekLE SeekLT SeekRowid NotExists Found NotFound NoConflict IfNoHope IfSizeBetween SeekScan SeekHit IdxGE IdxGT IdxLE IdxLT ' +
      'DeferredSeek FinishSeek NullRow IdxInsert Insert Delete IdxDelete VOpen VFilter VNext ClrSubtype IfNotOpen'
    )
      .split(' ')
      .map((opcode) => [opcode, NOTHING]),
  ),
  Gosub: P1,
  InitCoroutine: P1,
  Yield: P1,
  AddImm: P1,
  Cast: P1,
  SoftNull: P1,
  AggFinal: P1,
  BeginSubrtn: P2,
  Variable: P2,
  Integer: P2,
  Int64: P2,
  Real: P2,
  String: P2,
  String8: P2,
  Blob: P2,
  Null: ({ p2, p3 }) => span(p2, p3 - p2 + 1),
  SCopy: P2,
  IntCopy: P2,
  Copy: ({ p2, p3 }) => span(p2, p3 + 1),
  Move: ({ p1, p2, p3 }) => [...span(p1, p3), ...span(p2, p3)],
  Column: P3,
  VColumn: P3,
  Rowid: P2,
  IdxRowid: P2,
  RowData: P2,
  SorterData: P2,
  Sequence: P2,
  NewRowid: P2,
  Count: P2,
  MakeRecord: P3,
  AggStep: P3,
  AggInverse: P3,
  AggValue: P3,
  Function: P3,
  PureFunc: P3,
  IsTrue: P2,
  ZeroOrNull: P2,
  OffsetLimit: P2,
  Not: P2,
  BitNot: P2,
  ...Object.fromEntries('Add Subtract Multiply Divide Remainder Concat And Or BitAnd BitOr ShiftLeft ShiftRight'.split(' ').map((opcode) => [opcode, P3])),
};

const SEEKS = new Set(['SeekGE', 'SeekGT', 'SeekLE', 'SeekLT']);
const BOUNDS = new Set(['IdxGE', 'IdxGT', 'IdxLE', 'IdxLT']);
const BY_ROWID = new Set(['SeekRowid', 'NotExists']);
/** Opcodes whose first operand is a cursor and which move it anywhere. */
const ANYWHERE = new Set(['Rewind', 'Last', 'Sort', 'Count', 'Found', 'NotFound', 'NoConflict', 'IfNoHope', 'IfSizeBetween', 'SeekScan', 'SeekHit']);

/** By table: the values by which the query finds rows. Tables that are absent it may read anywhere. */
export function constantLookups(program: readonly Instruction[], bTreeByRoot: ReadonlyMap<number, BTree>, params: readonly SqlParam[]): ReadonlyMap<string, readonly Lookup[]> {
  const lookups = new Map<string, Lookup[]>();
  if (program.some(({ opcode }) => OUTPUTS[opcode] === undefined)) return lookups;
  const constants = constantRegisters(program, params);
  const cursors = openCursors(program, bTreeByRoot);
  const wholeTables = new Set<string>();
  for (const [cursor, bTree] of cursors) {
    const found = lookupOf(program, cursor, bTree, constants, cursors);
    if (found === null) wholeTables.add(bTree.table);
    else if (found !== 'follows') lookups.set(bTree.table, [...(lookups.get(bTree.table) ?? []), found]);
  }
  for (const table of wholeTables) lookups.delete(table);
  return lookups;
}

/** Registers that hold one value through the whole program, which is known. */
function constantRegisters(program: readonly Instruction[], params: readonly SqlParam[]): ReadonlyMap<number, string> {
  const writers = new Map<number, Instruction[]>();
  for (const instruction of program) {
    for (const register of OUTPUTS[instruction.opcode]?.(instruction) ?? []) writers.set(register, [...(writers.get(register) ?? []), instruction]);
  }
  const constants = new Map<number, string>();
  for (const [register, [only, ...others]] of writers) {
    const key = others.length > 0 || only === undefined ? null : constantKey(only, params);
    if (key !== null) constants.set(register, key);
  }
  return constants;
}

function constantKey({ opcode, p1, p4 }: Instruction, params: readonly SqlParam[]): string | null {
  switch (opcode) {
    case 'Variable': {
      const param = params[p1 - 1];
      return param === undefined ? null : lookupKey(param);
    }
    case 'Integer':
      return lookupKey(p1);
    case 'Int64':
    case 'Real':
      return lookupKey(Number(p4));
    case 'String8':
      return lookupKey(p4);
    default:
      return null;
  }
}

/** The cursors on tables, by number. A number that is used for two b-trees counts as open on neither, and its table as read anywhere. */
function openCursors(program: readonly Instruction[], bTreeByRoot: ReadonlyMap<number, BTree>): ReadonlyMap<number, BTree> {
  const cursors = new Map<number, BTree>();
  for (const { opcode, p1, p2, p3 } of program) {
    if ((opcode !== 'OpenRead' && opcode !== 'ReopenIdx') || p3 !== 0) continue;
    const bTree = bTreeByRoot.get(p2);
    if (bTree === undefined) continue;
    const known = cursors.get(p1);
    cursors.set(p1, known === undefined || known === bTree ? bTree : { table: bTree.table, firstColumn: null });
  }
  return cursors;
}

/** The one value by which a cursor finds rows, `follows` where it only goes where such a cursor is, null where it may go anywhere. */
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
    // The cursor of the table goes where that of its index stands, and that one is looked at by itself.
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
