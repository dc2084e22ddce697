import type { SqlParam } from '../../rpc/sql-value.ts';
import { lookupKey } from '../../rpc/lookup-key.ts';

// The program that SQLite compiles a query to, from EXPLAIN.

/** One instruction of a program. */
export interface Instruction {
  readonly opcode: string;
  readonly p1: number;
  readonly p2: number;
  readonly p3: number;
  readonly p4: string;
}

/** The b-tree of a table or of one of its indexes. */
export interface BTree {
  readonly table: string;
  /**
   * The first column of its keys, if the keys compare as bytes; null for an expression, for any other collation, or for
   * a rowid that is not a column.
   */
  readonly firstColumn: string | null;
  /** Whether it is an index in ascending order of its first column. */
  readonly ascends: boolean;
  /** Whether the affinity of that column converts numeric texts to numbers. */
  readonly ofNumbers: boolean;
}

/** Opcodes whose first operand is a cursor, and which may find rows without a seek and a bound. */
export const SEARCHES: readonly string[] = 'Sort Count Found NotFound IfNoHope IfSizeBetween SeekScan SeekHit'.split(
  ' ',
);

type Outputs = (instruction: Instruction) => readonly number[];

const span = (first: number, count: number): number[] =>
  Array.from({ length: Math.max(1, count) }, (_, index) => first + index);

function each(opcodes: string, outputs: Outputs): Record<string, Outputs> {
  return Object.fromEntries(opcodes.split(' ').map((opcode) => [opcode, outputs]));
}

/** The registers that an instruction writes. An opcode that is missing here is unknown. */
const OUTPUTS: Readonly<Record<string, Outputs>> = {
  // Opcodes for jumps, comparisons, rows and cursors write no register. `Affinity` and similar opcodes change a value
  // in a way that `lookupKey` does not see.
  ...each(
    'Init Goto Halt Transaction Explain Noop Return EndCoroutine Once If IfNot IsNull NotNull Eq Ne Lt Le Gt Ge ElseEq Compare Jump Permutation ' +
      'MustBeInt ResultRow Affinity RealAffinity CollSeq IfPos IfNotZero DecrJumpZero Filter FilterAdd Close ' +
      'OpenRead ReopenIdx OpenEphemeral OpenAutoindex OpenDup OpenPseudo SorterOpen SorterInsert SorterSort SorterNext SorterCompare ResetSorter Sort ' +
      'Rewind Last Next Prev SeekGE SeekGT SeekLE SeekLT SeekRowid NotExists Found NotFound IfNoHope IfSizeBetween SeekScan SeekHit IdxGE IdxGT IdxLE IdxLT ' +
      'DeferredSeek FinishSeek NullRow IdxInsert Insert Delete IdxDelete VOpen VFilter VNext ClrSubtype',
    () => [],
  ),
  ...each('Gosub InitCoroutine Yield AddImm Cast AggFinal', ({ p1 }) => [p1]),
  ...each(
    'BeginSubrtn Variable Integer Int64 Real String String8 Blob SCopy IntCopy Rowid IdxRowid RowData SorterData Sequence NewRowid Count IsTrue ' +
      'ZeroOrNull OffsetLimit Not BitNot',
    ({ p2 }) => [p2],
  ),
  ...each(
    'Column VColumn MakeRecord AggStep AggInverse AggValue Function PureFunc Add Subtract Multiply Divide Remainder Concat And Or BitAnd BitOr ' +
      'ShiftLeft ShiftRight',
    ({ p3 }) => [p3],
  ),
  Null: ({ p2, p3 }) => span(p2, p3 - p2 + 1),
  Copy: ({ p2, p3 }) => span(p2, p3 + 1),
  Move: ({ p1, p2, p3 }) => [...span(p1, p3), ...span(p2, p3)],
};

/** The instructions that write each register, by its number. */
export type Writers = ReadonlyMap<number, readonly Instruction[]>;

/** False for an opcode with unknown writes. */
export function isKnown({ opcode }: Instruction): boolean {
  return OUTPUTS[opcode] !== undefined;
}

export function writersOf(program: readonly Instruction[]): Writers {
  const writers = new Map<number, Instruction[]>();
  for (const instruction of program) {
    for (const register of OUTPUTS[instruction.opcode]?.(instruction) ?? [])
      writers.set(register, [...(writers.get(register) ?? []), instruction]);
  }
  return writers;
}

/** The key of the value that an instruction writes; null if it is unknown before the query runs. */
export function constantKey({ opcode, p1, p4 }: Instruction, params: readonly SqlParam[]): string | null {
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
