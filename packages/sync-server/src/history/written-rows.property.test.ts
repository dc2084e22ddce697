import fc from 'fast-check';
import { buildSchema, decodeKey, type CellValue } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import { atLevel } from '../../../../tests/kit/level.ts';
import { checkConvergence, history, rowsOf } from '../../testing/random-history.ts';
import { rowNameOf } from '../../testing/replica.ts';
import { TEST_TABLES } from '../../testing/test-schema.ts';
import type { StoredTable } from '../sqlite/stored-table.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { rowsWrittenBy } from './written-rows.ts';

const schema = buildSchema(TEST_TABLES.map((table) => ({ ...table, history: { retainedDays: null } })));
const NOW_MS = 1_800_000_000_000;

type State = ReadonlyMap<string, ReadonlyMap<number, CellValue>>;
type Sides = { readonly before: unknown; readonly after: unknown };

function watch(file: DatabaseFile): () => void {
  const states: State[] = [new Map()];
  const append = file.log.append.bind(file.log);
  file.log.append = (entry) => {
    append(entry);
    states[entry.watermark] = rowsOf(file);
  };
  return () => {
    const last = states.length - 1;
    for (let w = 1; w <= last; w++) {
      // One transaction, and all transactions since it.
      expect(written(file, [w])).toEqual(difference(states[w - 1] as State, states[w] as State));
      const all = Array.from({ length: last - w + 1 }, (_, i) => w + i);
      expect(withoutEqual(written(file, all))).toEqual(difference(states[w - 1] as State, states[last] as State));
    }
  };
}

function written(file: DatabaseFile, watermarks: readonly number[]): Map<string, Sides> {
  const tables = schema.tables.map(({ name }) => file.tableByName.get(name) as StoredTable);
  const rows = rowsWrittenBy(file, tables, new Set(watermarks), NOW_MS);
  return new Map(
    rows.map(({ tableId, key, before, after }) => [
      rowNameOf(tableId, decodeKey(key)),
      { before: plain(before), after: plain(after) },
    ]),
  );
}

/** The result also contains rows whose values are the same as before. */
function withoutEqual(rows: ReadonlyMap<string, Sides>): Map<string, Sides> {
  return new Map([...rows].filter(([, { before, after }]) => !isSame(before, after)));
}

function difference(from: State, to: State): Map<string, Sides> {
  const found = new Map<string, Sides>();
  const ids = schema.tables.map(({ id }) => `${id}:`);
  for (const name of new Set([...from.keys(), ...to.keys()])) {
    if (!ids.some((id) => name.startsWith(id))) continue;
    const [before, after] = [plain(from.get(name) ?? null), plain(to.get(name) ?? null)];
    if (!isSame(before, after)) found.set(name, { before, after });
  }
  return found;
}

function plain(row: ReadonlyMap<number, CellValue> | null): unknown {
  return row === null ? null : Object.fromEntries(row);
}

function isSame(a: unknown, b: unknown): boolean {
  return fc.stringify(a) === fc.stringify(b);
}

describe('the rows that transactions wrote', () => {
  it('give the difference between the state before and the state after, for one transaction and for all since a moment', async () => {
    await fc.assert(
      fc.asyncProperty(history, (one) => checkConvergence(one, { schema, watch })),
      { numRuns: atLevel({ test: 10, verify: 200 }) },
    );
  });
});
