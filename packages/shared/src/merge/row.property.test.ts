import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atLevel } from '../../../../tests/kit/level.ts';
import type { CellValue } from '../change/cell-value.ts';
import { tablePolicies, type TablePolicies } from './column-policy.ts';
import { counter } from './policies/counter.ts';
import { group } from './policies/group.ts';
import { mergeRow } from './row.ts';
import type { Conflict, RowChange, StoredRow } from './row-model.ts';
import type { RowRules } from './row-rules.ts';

const COLUMNS = [11, 12];

const PLAIN: RowRules = { deleteRule: 'delete-wins', policies: tablePolicies([]) };
const GROUP = group(COLUMNS);
const GROUPED = tablePolicies(COLUMNS.map((id) => [id, GROUP]));
const counting = (...columnIds: number[]): TablePolicies => tablePolicies(columnIds.map((id) => [id, counter]));
/** Each rule alone, and `update-wins` together with each other rule. */
const ALL_RULES: readonly RowRules[] = [
  PLAIN,
  { ...PLAIN, deleteRule: 'update-wins' },
  { ...PLAIN, policies: counting(11) },
  { deleteRule: 'update-wins', policies: counting(12) },
  { deleteRule: 'update-wins', policies: counting(...COLUMNS) },
  { ...PLAIN, policies: GROUPED },
  { deleteRule: 'update-wins', policies: GROUPED },
];
const addsUp = ({ policies }: RowRules): boolean =>
  [...policies.byColumn.values()].some(({ accumulates }) => accumulates === true);

interface Write {
  readonly site: string;
  readonly stampUs: number;
  readonly kind: RowChange['kind'];
  readonly values: ReadonlyMap<number, CellValue>;
}

/** One row, and three sites that saw the same state and then wrote without seeing each other's writes. */
interface History {
  readonly startsWithRow: boolean;
  readonly bySite: readonly (readonly Write[])[];
}

const stepSeed = fc.record({
  wish: fc.constantFrom('update', 'delete', 'insert'),
  column: fc.constantFrom(...COLUMNS),
  value: fc.bigInt({ min: 0n, max: 3n }),
  gap: fc.integer({ min: 1, max: 5 }),
});

const history: fc.Arbitrary<History> = fc
  .tuple(fc.boolean(), fc.array(fc.array(stepSeed, { maxLength: 4 }), { minLength: 2, maxLength: 3 }))
  .map(([startsWithRow, seeds]) => ({
    startsWithRow,
    bySite: seeds.map((steps, index) => {
      const site = `site${index}`;
      let alive = startsWithRow;
      let stampUs = 100;
      return steps.flatMap(({ wish, column, value, gap }): Write[] => {
        // A site can only update or delete what it sees, and only insert what it does not.
        const kind = alive ? (wish === 'delete' ? 'delete' : 'update') : 'insert';
        alive = kind !== 'delete';
        stampUs += gap; // sites sometimes share stamps, because the tie is part of the rule
        const columns = kind === 'insert' ? COLUMNS : kind === 'update' ? [column] : [];
        return [{ site, stampUs, kind, values: new Map(columns.map((id) => [id, value])) }];
      });
    }),
  }));

/** The values as they are sent: an update of one column carries all of its group. */
function carried(
  { kind, values }: Pick<Write, 'kind' | 'values'>,
  { policies }: RowRules,
): ReadonlyMap<number, CellValue> {
  const [value = null] = values.values();
  return kind === 'update' && policies.together.length > 0 ? new Map(COLUMNS.map((id) => [id, value])) : values;
}

function admit(
  start: StoredRow | undefined,
  writes: readonly Write[],
  base: number,
  rules: RowRules = PLAIN,
): { row: StoredRow | undefined; conflicts: Conflict[] } {
  let row = start;
  const conflicts: Conflict[] = [];
  let watermark = base;
  for (const write of writes) {
    const { site, stampUs, kind } = write;
    const merged = mergeRow(
      row,
      { kind, values: carried(write, rules), version: { stampUs, site, watermark: ++watermark }, baseOf: () => base },
      rules,
    );
    row = merged.row;
    conflicts.push(...merged.conflicts);
  }
  return { row, conflicts };
}

const firstRow: StoredRow = admit(
  undefined,
  [{ site: 'origin', stampUs: 1, kind: 'insert', values: new Map(COLUMNS.map((id) => [id, 0n])) }],
  0,
).row as StoredRow;

function visible(row: StoredRow | undefined): unknown {
  if (row === undefined || row.deleted !== null) return 'no row';
  return COLUMNS.map((columnId) => row.cells.get(columnId)?.value);
}

/** Every order of arrival that keeps each site's own order. */
function* interleavings(queues: readonly (readonly Write[])[]): Generator<Write[]> {
  if (queues.every((queue) => queue.length === 0)) yield [];
  for (const [index, queue] of queues.entries()) {
    const [head, ...rest] = queue;
    if (head === undefined) continue;
    for (const tail of interleavings(queues.map((other, at) => (at === index ? rest : other)))) yield [head, ...tail];
  }
}

function firstSome<T>(items: Iterable<T>, limit: number): T[] {
  const taken: T[] = [];
  for (const item of items) {
    taken.push(item);
    if (taken.length >= limit) break;
  }
  return taken;
}

describe('merging concurrent writes of one row', () => {
  it('gives the same row in every order of arrival [MR-03]', () => {
    fc.assert(
      fc.property(history, fc.constantFrom(...ALL_RULES), ({ startsWithRow, bySite }, rules) => {
        const start = startsWithRow ? firstRow : undefined;
        const base = startsWithRow ? 1 : 0;
        const results = firstSome(interleavings(bySite), 400).map((order) =>
          JSON.stringify(visible(admit(start, order, base, rules).row), bigintToText),
        );
        expect(new Set(results).size).toBe(1);
      }),
      { numRuns: atLevel({ test: 400, verify: 1_000 }) },
    );
  });

  it('keeps the last value of each site in its cell, or returns it as a conflict [MR-03]', () => {
    fc.assert(
      fc.property(
        history,
        fc.constantFrom(...ALL_RULES.filter((rules) => !addsUp(rules))),
        ({ startsWithRow, bySite }, rules) => {
          const start = startsWithRow ? firstRow : undefined;
          const queues = bySite
            .map(withValuesOfTheirOwn)
            .map((queue) => queue.map((write) => ({ ...write, values: carried(write, rules) })));
          for (const order of firstSome(interleavings(queues), 20)) {
            const { row, conflicts } = admit(start, order, startsWithRow ? 1 : 0, rules);
            if (queues.filter(({ length }) => length > 0).length === 1) expect(conflicts).toEqual([]);
            for (const [columnId, value] of queues.flatMap(lastCells)) {
              const stands = row?.deleted === null && row.cells.get(columnId)?.value === value;
              const isTold = conflicts.some((loss) => loss.columnId === columnId && loss.lost.value === value);
              expect(stands || isTold).toBe(true);
            }
          }
        },
      ),
      { numRuns: atLevel({ test: 150, verify: 300 }) },
    );
  });
});

describe('merging a write again', () => {
  it('leaves the row unchanged right after a lost reply, except that counters would count twice', () => {
    const withoutCounters = ALL_RULES.filter((rules) => !addsUp(rules));
    fc.assert(
      fc.property(history, fc.constantFrom(...withoutCounters), fc.nat(), ({ startsWithRow, bySite }, rules, which) => {
        const start = startsWithRow ? firstRow : undefined;
        const base = startsWithRow ? 1 : 0;
        const [order = []] = firstSome(interleavings(bySite), 1);
        const at = order.length === 0 ? 0 : which % order.length;
        const repeated = [...order.slice(0, at + 1), ...order.slice(at)];
        expect(visible(admit(start, repeated, base, rules).row)).toEqual(visible(admit(start, order, base, rules).row));
      }),
      { numRuns: atLevel({ test: 250, verify: 500 }) },
    );
  });
});

describe('a deleted row', () => {
  it('is restored by an update only under update-wins, and only if the delete had not seen the update', () => {
    fc.assert(
      fc.property(
        history.filter(({ startsWithRow }) => startsWithRow),
        fc.constantFrom(...ALL_RULES),
        ({ bySite }, rules) => {
          // Omits inserts, which create a new row.
          const writes = bySite.map((queue) =>
            queue.slice(0, queue.findIndex(({ kind }) => kind === 'delete') + 1 || queue.length),
          );
          const deleters = writes.filter((queue) => queue.at(-1)?.kind === 'delete');
          const updatedByOthers = (deleter: readonly Write[]): boolean =>
            writes.some((queue) => queue !== deleter && queue.some(({ kind }) => kind === 'update'));
          const staysGone =
            deleters.length > 0 && (rules.deleteRule === 'delete-wins' || !deleters.every(updatedByOthers));
          for (const order of firstSome(interleavings(writes), 40)) {
            expect(visible(admit(firstRow, order, 1, rules).row) === 'no row').toBe(staysGone);
          }
        },
      ),
      { numRuns: atLevel({ test: 250, verify: 500 }) },
    );
  });
});

describe('a column group', () => {
  const hidden = fc.record({
    site: fc.nat(2),
    stampUs: fc.integer({ min: 2, max: 9 }),
    unseen: fc.tuple(fc.nat(3), fc.nat(3)),
    values: fc.tuple(fc.bigInt({ min: 0n, max: 2n }), fc.bigInt({ min: 0n, max: 2n })),
  });

  it('has one author and loses as a whole, even if other authors had not seen parts of it [MR-08]', () => {
    fc.assert(
      fc.property(fc.array(hidden, { maxLength: 6 }), (writes) => {
        let row = firstRow;
        let watermark = 1;
        for (const { site, stampUs, unseen, values } of writes) {
          const seen = watermark++;
          const version = { stampUs, site: `site${site}`, watermark };
          const baseOf = (columnId: number): number => Math.max(1, seen - (unseen[COLUMNS.indexOf(columnId)] ?? 0));
          const merged = mergeRow(
            row,
            {
              kind: 'update',
              values: new Map(COLUMNS.map((id, index) => [id, values[index] ?? null])),
              version,
              baseOf,
            },
            { ...PLAIN, policies: GROUPED },
          );
          row = merged.row as StoredRow;
          expect(new Set(COLUMNS.map((id) => row.cells.get(id)?.version)).size).toBe(1);
          expect([0, COLUMNS.length]).toContain(merged.conflicts.length);
        }
      }),
      { numRuns: atLevel({ test: 400, verify: 1_000 }) },
    );
  });
});

describe('merging sequential writes', () => {
  it('never returns a conflict [MR-01]', () => {
    fc.assert(
      fc.property(fc.array(stepSeed, { maxLength: 8 }), fc.constantFrom(...ALL_RULES), (steps, rules) => {
        let row: StoredRow | undefined = firstRow;
        let watermark = 1;
        for (const [index, { wish, column, value }] of steps.entries()) {
          const alive: boolean = row !== undefined && row.deleted === null;
          const kind = alive ? (wish === 'delete' ? 'delete' : 'update') : 'insert';
          const columns = kind === 'insert' ? COLUMNS : kind === 'update' ? [column] : [];
          const base = watermark;
          const before = row;
          const version = { stampUs: 10 + index, site: `site${index % 3}`, watermark: ++watermark };
          const values = carried({ kind, values: new Map(columns.map((id) => [id, value])) }, rules);
          const merged = mergeRow(row, { kind, values, version, baseOf: () => base }, rules);
          expect(merged.conflicts).toEqual([]);
          expect(merged.corrected).toEqual([]);
          row = merged.row;
          if (kind === 'delete') expect(visible(row)).toBe('no row');
          const added = (id: number): bigint =>
            kind === 'update' && rules.policies.byColumn.get(id)?.accumulates === true
              ? (before?.cells.get(id)?.value as bigint)
              : 0n;
          for (const id of values.keys()) expect(row?.cells.get(id)?.value).toBe(added(id) + value);
        }
      }),
    );
  });
});

/** The same writes with values that no other write has, so that each can be followed. */
function withValuesOfTheirOwn(writes: readonly Write[], siteIndex: number): Write[] {
  return writes.map((write, step) => ({
    ...write,
    values: new Map([...write.values.keys()].map((columnId) => [columnId, BigInt(100 * (siteIndex + 1) + step)])),
  }));
}

/** The cells that a site has left in the row; none if the site finally deleted the row. */
function lastCells(writes: readonly Write[]): [number, CellValue][] {
  const cells = new Map<number, CellValue>();
  for (const { kind, values } of writes) {
    if (kind === 'delete') cells.clear();
    for (const [columnId, value] of values) cells.set(columnId, value);
  }
  return [...cells];
}

function bigintToText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value;
}
