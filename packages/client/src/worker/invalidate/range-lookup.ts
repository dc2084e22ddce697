import { isKeyBefore } from '../../rpc/lookup-key.ts';
import type { RangeLookup, RangeStop } from '../../rpc/query-dependencies.ts';
import type { SqlParam } from '../../rpc/sql-value.ts';
import { constantKey, SEARCHES, type BTree, type Instruction, type Writers } from './query-program.ts';

/*
 * A query that reads a range of an index,
 *
 *   SeekGE 2 r1   ┌▶ IdxGT 2 r2 → end   …   ResultRow   DecrJumpZero → end   Next 2 ┐
 *                 └────────────────────────────────────────────────────────────────┘
 *
 * reads no row before the first value and none after the second. If a LIMIT ends it (DecrJumpZero), it reads none after
 * the last row of its result. The downward form has SeekLE, IdxLT and Prev; Rewind and Last begin without a bound. Only
 * a cursor with one beginning, one direction, and at most one bound, at the head of its loop, is recognised.
 */

interface Way {
  readonly isUpwards: boolean;
  readonly step: string;
  readonly begins: readonly string[];
  readonly bounds: readonly string[];
}

const WAYS: readonly Way[] = [
  { isUpwards: true, step: 'Next', begins: ['SeekGE', 'SeekGT', 'Rewind'], bounds: ['IdxGE', 'IdxGT'] },
  { isUpwards: false, step: 'Prev', begins: ['SeekLE', 'SeekLT', 'Last'], bounds: ['IdxLE', 'IdxLT'] },
];

/** Opcodes whose first operand is a cursor and which decide where the cursor moves. */
const MOVES = new Set([
  ...WAYS.flatMap(({ step, begins, bounds }) => [step, ...begins, ...bounds]),
  ...['SeekRowid', 'NotExists', 'NullRow'],
  ...SEARCHES,
]);

/** The range of a cursor; null if it may move anywhere. */
export function rangeLookup(
  program: readonly Instruction[],
  cursor: number,
  { firstColumn, ascends, ofNumbers }: BTree,
  writers: Writers,
  params: readonly SqlParam[],
): RangeLookup | null {
  if (firstColumn === null || !ascends) return null;
  const moves = program.flatMap((instruction, address) =>
    instruction.p1 === cursor && MOVES.has(instruction.opcode) ? [{ ...instruction, address }] : [],
  );
  const way = WAYS.find(({ step }) => moves.some(({ opcode }) => opcode === step));
  if (way === undefined) return null;
  const [begin, ...otherBegins] = moves.filter(({ opcode }) => way.begins.includes(opcode));
  const [step, ...otherSteps] = moves.filter(({ opcode }) => opcode === way.step);
  const [bound, ...otherBounds] = moves.filter(({ opcode }) => way.bounds.includes(opcode));
  const hasOthers =
    otherBegins.length + otherSteps.length + otherBounds.length > 0 || moves.length > (bound === undefined ? 2 : 3);
  if (begin === undefined || step === undefined || hasOthers || begin.address >= step.p2 || step.p2 > step.address)
    return null;
  if (bound !== undefined && (bound.address !== step.p2 || bound.p2 <= step.address)) return null;

  const endOf = (move: Instruction | undefined, isUpper: boolean): string | null =>
    move === undefined || Number(move.p4) < 1 || move.opcode === 'Rewind' || move.opcode === 'Last'
      ? null
      : outermost(keysIn(move.p3, writers, params), isUpper, ofNumbers);
  const [from, to] = way.isUpwards
    ? [endOf(begin, false), endOf(bound, true)]
    : [endOf(bound, false), endOf(begin, true)];
  const stop = stopOf(program, cursor, { isUpwards: way.isUpwards, head: step.p2, end: step.address }, writers, params);
  return from === null && to === null && stop === null ? null : { column: firstColumn, ofNumbers, from, to, stop };
}

/** The possible values of a register, which may hold both ends of a range in turn. Null if they are unknown. */
function keysIn(register: number, writers: Writers, params: readonly SqlParam[]): readonly string[] | null {
  const keys = (writers.get(register) ?? []).map((writer) =>
    writer.opcode === 'Null' ? NULL_KEY : constantKey(writer, params),
  );
  return keys.length === 0 || keys.includes(null) ? null : (keys as string[]);
}

const NULL_KEY = 'null';

/**
 * The key that is certainly the last of these keys, or the first if `isUpper` is false; null if it is unknown. NULL
 * sorts before all values.
 */
function outermost(keys: readonly string[] | null, isUpper: boolean, ofNumbers: boolean): string | null {
  if (keys === null || (!isUpper && keys.includes(NULL_KEY))) return null;
  const values = keys.filter((key) => key !== NULL_KEY);
  return (
    values.find((key) =>
      values.every(
        (other) => other === key || (isUpper ? isKeyBefore(other, key, ofNumbers) : isKeyBefore(key, other, ofNumbers)),
      ),
    ) ?? null
  );
}

interface Loop {
  readonly isUpwards: boolean;
  /** The addresses of its first and last instruction. */
  readonly head: number;
  readonly end: number;
}

const LOOPS: ReadonlySet<string> = new Set(['Next', 'Prev', 'SorterNext', 'VNext']);
const SUBROUTINES: ReadonlySet<string> = new Set(['Gosub', 'Yield', 'InitCoroutine']);

/** Returns where a LIMIT ends the query, or null. The only loop of a query returns one row per iteration. */
function stopOf(
  program: readonly Instruction[],
  cursor: number,
  { isUpwards, head, end }: Loop,
  writers: Writers,
  params: readonly SqlParam[],
): RangeStop | null {
  if (
    program.filter(({ opcode }) => LOOPS.has(opcode)).length > 1 ||
    program.some(({ opcode }) => SUBROUTINES.has(opcode))
  )
    return null;
  const [at, ...others] = program.flatMap(({ opcode }, address) => (opcode === 'ResultRow' ? [address] : []));
  if (at === undefined || others.length > 0 || at < head || at > end) return null;
  const [row, countdown] = [program[at] as Instruction, program[at + 1]];
  if (countdown?.opcode !== 'DecrJumpZero' || countdown.p2 <= end) return null;
  const [limit, ...otherLimits] = keysIn(countdown.p1, writers, params) ?? [];
  const rowCount = Number(/^number:(.+)$/.exec(limit ?? '')?.[1]);
  if (otherLimits.length > 0 || !Number.isInteger(rowCount) || rowCount < 1) return null;
  const resultColumn = Array.from({ length: row.p2 }, (_, index) => writers.get(row.p1 + index) ?? []).findIndex(
    ([writer, ...more]) => more.length === 0 && writer?.opcode === 'Column' && writer.p1 === cursor && writer.p2 === 0,
  );
  return resultColumn < 0 ? null : { rowCount, resultColumn, isUpwards };
}
