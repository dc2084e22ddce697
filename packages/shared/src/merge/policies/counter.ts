import type { CellValue } from '../../change/cell-value.ts';
import { RockpoolError } from '../../errors/rockpool-error.ts';
import { text } from '../../schema/read-json.ts';
import { accumulated } from '../cell.ts';
import type { ColumnPolicy, PolicyDeclaration } from '../column-policy.ts';

/** `counters`: names of INTEGER NOT NULL columns. */
export const counterDeclaration: PolicyDeclaration<string> = {
  key: 'counters',
  columnsOf: (name) => [name],
  identityOf: (name) => name,
  ruleOf: ({ counters }, column) => counters.includes(column),
  read: (value) => text(value, 'counters'),
  columnProblem: ({ type, notNull }) =>
    type === 'integer' && notNull ? null : 'A counter must be INTEGER NOT NULL: only whole numbers add up exactly.',
  changeProblem: 'the column became a counter or stopped being one',
};

/**
 * Changes add up: an update carries its difference, and each difference counts exactly once. An insert carries the
 * value. No write of a counter loses to another, so only a row that is deleted or replaced leaves a conflict.
 *
 * A lost difference cannot be restored from the conflict log, which does not say whether a value is a difference or a
 * sum.
 */
export const counter: ColumnPolicy = {
  name: 'counter',
  accumulates: true,
  sendsDifference: true,
  refusesRestore: 'counter',

  validate(values, { table, column }) {
    if (values.some((value) => typeof value !== 'bigint' && value !== null))
      throw new RockpoolError('value-invalid', { table, column, problem: 'counter-not-integer' });
  },

  capture: (before, after) => counterDelta(before, after),

  merge: ({ before, value, version, has }) => ({
    cell: accumulated(before, addToCounter(before?.value ?? 0n, value), version),
    conflicts: [],
    isCorrected: !has,
  }),

  rebase: {
    pending: (before, value, kind) => (kind === 'insert' ? value : addToCounter(before, value)),
    // This device may apply the write in a different order than the server. If the server reached a different value, it
    // delivers that value.
    admitted: (before, value, kind) =>
      kind === 'insert' || typeof before !== 'bigint' || typeof value !== 'bigint'
        ? value
        : BigInt.asIntN(64, before + value),
  },

  undo: (current, written) =>
    typeof current === 'bigint' && typeof written === 'bigint' ? current - written : current,

  describe: (before, written) => ({
    after: typeof before === 'bigint' && typeof written === 'bigint' ? before + written : written,
  }),
};

/** Throws `value-invalid` if either value is not an integer, or if the sum exceeds 64 bits. */
function addToCounter(value: CellValue, delta: CellValue): bigint {
  if (typeof value !== 'bigint' || typeof delta !== 'bigint')
    throw new RockpoolError('value-invalid', { problem: 'counter-not-integer' });
  const sum = value + delta;
  if (BigInt.asIntN(64, sum) !== sum) throw new RockpoolError('value-invalid', { problem: 'counter-range' });
  return sum;
}

function counterDelta(before: CellValue, after: CellValue): bigint {
  if (typeof before !== 'bigint' || typeof after !== 'bigint')
    throw new RockpoolError('value-invalid', { problem: 'counter-not-integer' });
  const delta = after - before;
  if (BigInt.asIntN(64, delta) !== delta) throw new RockpoolError('value-invalid', { problem: 'counter-range' });
  return delta;
}
