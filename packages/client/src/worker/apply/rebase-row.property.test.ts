import { counter, tablePolicies, type CellValue } from '@rockpool/shared';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atLevel } from '../../../../../tests/kit/level.ts';
import { rebaseRow } from './rebase-row.ts';
import { type ColumnRules, NO_ROW, type DeliveredChange, type PendingRowChange, type RowState } from './row-state.ts';

const COUNTER = 3;
const COLUMNS = [1, 2, COUNTER];
const columns: ColumnRules = { documents: new Map(), policies: tablePolicies([[COUNTER, counter]]) };
const small = fc.bigInt({ min: 0n, max: 4n });

type Step =
  | { readonly act: 'write'; readonly intent: 'update' | 'delete'; readonly column: number; readonly value: bigint }
  | {
      readonly act: 'deliver';
      readonly decide: number;
      readonly verdicts: readonly boolean[];
      readonly mask: readonly boolean[];
      readonly kind: 'none' | 'update' | 'insert' | 'delete';
      readonly column: number;
      readonly value: bigint;
    };

const write = fc.record({
  act: fc.constant('write' as const),
  intent: fc.constantFrom('update' as const, 'update' as const, 'delete' as const),
  column: fc.constantFrom(...COLUMNS),
  value: small,
});
const deliver = fc.record({
  act: fc.constant('deliver' as const),
  decide: fc.nat({ max: 3 }),
  verdicts: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
  // Most deliveries violate no constraint.
  mask: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(fc.boolean(), { maxLength: 4 }) },
  ),
  kind: fc.constantFrom('none' as const, 'update' as const, 'insert' as const, 'delete' as const),
  column: fc.constantFrom(...COLUMNS),
  value: small,
});

/** The model: a delivery sets values; a local update adds to the counter and sets other columns. */
function edited(
  row: RowState,
  { kind, values }: Pick<PendingRowChange, 'kind' | 'values'>,
  by: 'me' | 'server',
): RowState {
  if (kind === 'delete') return NO_ROW;
  if (kind === 'insert') return { exists: true, values };
  if (!row.exists) return row;
  const sum = by === 'me' ? (row.values.get(COUNTER) as bigint) + ((values.get(COUNTER) ?? 0n) as bigint) : undefined;
  return {
    exists: true,
    values: new Map([...row.values, ...values, ...(sum === undefined ? [] : [[COUNTER, sum] as const])]),
  };
}

const wholeRow = (value: CellValue): Map<number, CellValue> => new Map(COLUMNS.map((id) => [id, value]));

describe('rebasing one row', () => {
  it('shows the unmasked pending changes on top of the server’s row, for any mix of outcomes, deliveries, writes and constraints', () => {
    fc.assert(
      fc.property(
        fc.boolean(),
        fc.array(fc.oneof<fc.Arbitrary<Step>[]>(write, deliver), { maxLength: 12 }),
        (startsWithRow, steps) => {
          // The model holds the server's row directly. The code under test has the visible row, old values and covered
          // values.
          let modelBase: RowState = startsWithRow ? { exists: true, values: wholeRow(9n) } : NO_ROW;
          let pending: readonly PendingRowChange[] = [];
          let visible = modelBase;
          let covered: ReadonlyMap<number, CellValue> = new Map();
          let masked: ReadonlySet<number> = new Set();
          let sequence = 0;
          for (const current of steps) {
            if (current.act === 'write') {
              const change = localChange(visible, current.intent, current.column, current.value, ++sequence);
              pending = [...pending, change];
              visible = edited(visible, change, 'me');
            } else {
              const decided = pending.slice(0, current.decide);
              const outcomeKinds = new Map(
                decided.map(({ sequence: number }, index) => [
                  number,
                  current.verdicts[index] === true ? ('admitted' as const) : ('rejected' as const),
                ]),
              );
              for (const change of decided)
                if (outcomeKinds.get(change.sequence) === 'admitted') modelBase = edited(modelBase, change, 'me');
              const delivered: DeliveredChange[] =
                current.kind === 'none'
                  ? []
                  : [
                      {
                        kind: current.kind,
                        values:
                          current.kind === 'insert'
                            ? wholeRow(current.value)
                            : new Map([[current.column, current.value]]),
                      },
                    ];
              for (const change of delivered) modelBase = edited(modelBase, change, 'server');
              const left = pending.slice(current.decide);
              const maskedAfter = new Set(
                left.filter((_, index) => current.mask[index] === true).map(({ sequence: number }) => number),
              );
              const after = rebaseRow({ visible, covered, pending, columns }, delivered, {
                outcomeKinds,
                maskedBefore: masked,
                maskedAfter,
              });
              ({ visible, covered } = after);
              pending = left;
              masked = maskedAfter;
              expect(after.serverRow).toEqual(modelBase);
            }
            const shown = pending.filter(({ sequence: number }) => !masked.has(number));
            expect(visible).toEqual(shown.reduce((row, change) => edited(row, change, 'me'), modelBase));
            if (shown.length === 0) expect(covered.size).toBe(0);
          }
        },
      ),
      { numRuns: atLevel({ test: 1_000, verify: 3_000 }) },
    );
  });
});

function localChange(
  visible: RowState,
  intent: 'update' | 'delete',
  column: number,
  value: bigint,
  sequence: number,
): PendingRowChange {
  const written = { sequence, base: 0, cellBases: new Map<number, number>() };
  if (!visible.exists) return { ...written, kind: 'insert', values: wholeRow(value), before: new Map() };
  if (intent === 'delete') return { ...written, kind: 'delete', values: new Map(), before: visible.values };
  return {
    ...written,
    kind: 'update',
    values: new Map([[column, value]]),
    before: new Map([[column, visible.values.get(column) ?? null]]),
  };
}
