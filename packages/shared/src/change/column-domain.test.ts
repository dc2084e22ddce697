import { describe, expect, it } from 'vitest';
import { columnIdOf } from '../schema/identity.ts';
import { DEFAULT_MERGE_RULES, type ColumnType } from '../schema/schema.ts';
import { sampleColumn, sampleTable } from '../../testing/sample-schema.ts';
import type { CellValue } from './cell-value.ts';
import type { ChangeGroup, ChangeKind } from './changeset.ts';
import { MAX_KEY_BYTES, requireInDomain, tableDomain } from './column-domain.ts';

const VALUES: Readonly<Record<'integer' | 'real' | 'text' | 'blob', readonly CellValue[]>> = {
  integer: [0n, -1n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)],
  real: [0, -0, 1, 1.5, 5e-324, Number.MAX_VALUE],
  text: ['', '1', '1.0', 'NULL', '\uFEFF'],
  blob: [new Uint8Array(0), Uint8Array.of(49)],
};
const HELD: Readonly<Record<ColumnType, readonly (keyof typeof VALUES)[]>> = {
  integer: ['integer'],
  real: ['real'],
  text: ['text'],
  blob: ['blob'],
  numeric: ['integer', 'real'],
};
const TYPES = Object.keys(HELD) as ColumnType[];

const group = (
  kind: ChangeKind,
  key: readonly CellValue[],
  cells: Readonly<Record<string, readonly CellValue[]>> = {},
): ChangeGroup => {
  const columns = Object.entries(cells);
  return {
    tableId: 1,
    kind,
    rowCount: key.length,
    keys: [key],
    columnIds: columns.map(([name]) => columnIdOf(name)),
    values: columns.map(([, values]) => values),
  };
};
const errorOf = (action: () => void): unknown => {
  try {
    action();
  } catch (error) {
    return error;
  }
  return null;
};

describe('a column', () => {
  it.each(TYPES)('accepts only NULL and values of its own type: %s [VK-08]', (type) => {
    const domain = tableDomain(
      sampleTable('t', [sampleColumn('id', 'text', { notNull: true }), sampleColumn('c', type)]),
    );
    for (const [valueType, values] of Object.entries(VALUES) as [keyof typeof VALUES, CellValue[]][]) {
      for (const kind of ['insert', 'update'] as const) {
        for (const value of values) {
          const error = errorOf(() =>
            requireInDomain(domain, group(kind, ['a', 'b', 'c'], { c: [null, value, null] })),
          );
          if (HELD[type].includes(valueType)) expect(error).toBeNull();
          else
            expect(error).toMatchObject({
              code: 'constraint-data-type',
              fields: { table: 't', column: 'c', columnType: type, valueType },
            });
        }
      }
    }
  });

  it('accepts integers if it is a counter, and leaves checking documents to their policy', () => {
    const table = sampleTable(
      't',
      [
        sampleColumn('id', 'text', { notNull: true }),
        sampleColumn('hits', 'integer', { notNull: true }),
        sampleColumn('page', 'text'),
      ],
      {
        merge: {
          ...DEFAULT_MERGE_RULES,
          counters: ['hits'],
          documents: [{ column: 'page', text: [], elementKey: 'id', maxLength: 100, maxDepth: 5 }],
        },
      },
    );
    const domain = tableDomain(table);
    requireInDomain(domain, group('update', ['a'], { hits: [-1n], page: [Uint8Array.of(1)] }));
    for (const value of [1.5, 'many', Uint8Array.of(1)]) {
      expect(() => requireInDomain(domain, group('update', ['a'], { hits: [value] }))).toThrow(
        expect.objectContaining({
          code: 'value-invalid',
          fields: { table: 't', column: 'hits', problem: 'counter-not-integer' },
        }) as Error,
      );
    }
  });
});

describe('a key', () => {
  it.each<ColumnType>(['text', 'integer', 'blob'])(
    'must have parts of the types of their columns in an insert: %s',
    (type) => {
      const domain = tableDomain(sampleTable('t', [sampleColumn('id', type, { notNull: true })]));
      for (const [valueType, values] of Object.entries(VALUES) as [keyof typeof VALUES, CellValue[]][]) {
        for (const value of values) {
          const error = errorOf(() => requireInDomain(domain, group('insert', [value])));
          if (valueType === type) expect(error).toBeNull();
          else
            expect(error).toMatchObject({
              code: 'key-invalid',
              fields: { table: 't', column: 'id', problem: 'type', columnType: type, valueType },
            });
          for (const kind of ['update', 'delete'] as const)
            expect(errorOf(() => requireInDomain(domain, group(kind, [value])))).toBeNull();
        }
      }
    },
  );

  it('has at most 2,000 bytes in an insert: text in UTF-8, integers as digits', () => {
    const columns = [
      sampleColumn('a', 'text', { notNull: true }),
      sampleColumn('b', 'blob', { notNull: true }),
      sampleColumn('c', 'integer', { notNull: true }),
    ];
    const domain = tableDomain(sampleTable('t', columns, { primaryKey: ['a', 'b', 'c'] }));
    const ofBytes = (bytes: number, kind: ChangeKind = 'insert'): ChangeGroup => ({
      tableId: 1,
      kind,
      rowCount: 1,
      keys: [['é'.repeat(500)], [new Uint8Array(bytes - 1_000 - 3)], [-10n]],
      columnIds: [],
      values: [],
    });
    expect(errorOf(() => requireInDomain(domain, ofBytes(MAX_KEY_BYTES)))).toBeNull();
    expect(errorOf(() => requireInDomain(domain, ofBytes(MAX_KEY_BYTES + 1)))).toMatchObject({
      code: 'key-invalid',
      fields: { table: 't', problem: 'too-large', limitBytes: MAX_KEY_BYTES },
    });
    expect(errorOf(() => requireInDomain(domain, ofBytes(MAX_KEY_BYTES + 1, 'delete')))).toBeNull();
  });
});
