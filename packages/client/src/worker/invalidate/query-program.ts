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

/** The registers that an instruction writes. An opcode that is missing here is unknown. */
const NOTHING = (): readonly number[] => [];
const P1 = ({ p1 }: Instruction): readonly number[] => [p1];
const P2 = ({ p2 }: Instruction): readonly number[] => [p2];
const P3 = ({ p3 }: Instruction): readonly number[] => [p3];
const span = (first: number, count: number): number[] =>
  Array.from({ length: Math.max(1, count) }, (_, index) => first + index);

const OUTPUTS: Readonly<Record<string, (instruction: Instruction) => readonly number[]>> = {
  ...Object.fromEntries(
    // Opcodes for jumps, comparisons, rows and cursors write no register. `Affinity` and similar opcodes change a value
    // in a way that `lookupKey` does not see.
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
  ...Object.fromEntries(
    'Add Subtract Multiply Divide Remainder Concat And Or BitAnd BitOr ShiftLeft ShiftRight'
      .split(' ')
      .map((opcode) => [opcode, P3]),
  ),
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
