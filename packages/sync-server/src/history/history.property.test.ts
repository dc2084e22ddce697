import fc from 'fast-check';
import { buildSchema, encodeKey, type CellValue } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import { atLevel } from '../../../../tests/kit/level.ts';
import { checkConvergence, history, rowsOf } from '../../testing/random-history.ts';
import { rowNameOf } from '../../testing/replica.ts';
import { TEST_TABLES } from '../../testing/test-schema.ts';
import type { StoredTable } from '../sqlite/stored-table.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { pastRows } from './past-rows.ts';
import { readHistory, readRowAtVersion } from './read-history.ts';

const schema = buildSchema(TEST_TABLES.map((table) => ({ ...table, history: { retainedDays: null } })));
const NOW_MS = 1_800_000_000_000;
const KEYS: readonly (readonly CellValue[])[] = [['a'], ['b'], ['a', 1n], ['b', 1n]];

/** Records all rows at every watermark, and finally compares them with the history. */
function watch(file: DatabaseFile): () => void {
  const states = [new Map<string, ReadonlyMap<number, CellValue>>()];
  const append = file.log.append.bind(file.log);
  file.log.append = (entry) => {
    append(entry);
    states[entry.watermark] = rowsOf(file);
  };
  return () => {
    for (const [watermark, state] of states.entries())
      if (watermark > 0) expect(pastState(file, watermark)).toEqual(named(state));
    for (const table of schema.tables) {
      for (const key of KEYS.filter(({ length }) => length === table.primaryKey.length)) {
        const name = rowNameOf(table.id, key);
        const row = { table: table.name, key: encodeKey(key) };
        const changedAt = states.flatMap((state, w) =>
          w > 0 && !sameRow(state.get(name), states[w - 1]?.get(name)) ? [w] : [],
        );
        const { versions, isTruncated } = readHistory(
          file,
          { ...row, before: null, limit: 200, column: null, format: 2 },
          NOW_MS,
        );
        expect(versions.map(({ watermark }) => watermark)).toEqual(changedAt.reverse());
        expect(isTruncated).toBe(false);
        for (const { watermark, kind, changes } of versions) {
          const [before, after] = [states[watermark - 1]?.get(name), states[watermark]?.get(name)];
          expect(kind).toBe(before === undefined ? 'insert' : after === undefined ? 'delete' : 'update');
          expect(readRowAtVersion(file, { ...row, version: watermark }, NOW_MS) ?? undefined).toEqual(after);
          for (const { columnId, values } of changes)
            expect(values).toEqual({ before: before?.get(columnId) ?? null, after: after?.get(columnId) ?? null });
        }
      }
    }
  };
}

/** Every row of every table at a watermark, as pastRows reads it. */
function pastState(file: DatabaseFile, watermark: number): Map<string, Record<string, CellValue>> {
  const found = new Map<string, Record<string, CellValue>>();
  for (const { name } of schema.tables) {
    const table = file.tableByName.get(name) as StoredTable;
    for (const row of pastRows(file, table, { watermark, receivedMs: 0 }, NOW_MS)) {
      const values = row.slice(table.keys.length);
      const key = rowNameOf(table.schema.id, row.slice(0, table.keys.length));
      expect(found.has(key), 'a row comes once').toBe(false);
      found.set(key, Object.fromEntries(table.columnIds.map((id, i) => [id, values[i] ?? null])));
    }
  }
  return found;
}

function named(state: ReadonlyMap<string, ReadonlyMap<number, CellValue>>): Map<string, Record<string, CellValue>> {
  const ids = schema.tables.map(({ id }) => `${id}:`);
  return new Map(
    [...state]
      .filter(([name]) => ids.some((id) => name.startsWith(id)))
      .map(([name, values]) => [name, Object.fromEntries(values)]),
  );
}

function sameRow(
  a: ReadonlyMap<number, CellValue> | undefined,
  b: ReadonlyMap<number, CellValue> | undefined,
): boolean {
  if (a === undefined || b === undefined) return a === b;
  return [...a].every(([columnId, value]) => Object.is(b.get(columnId), value));
}

describe('the history of rows', () => {
  it('holds the rows of every watermark, after any history', async () => {
    await fc.assert(
      fc.asyncProperty(history, (one) => checkConvergence(one, { schema, watch })),
      { numRuns: atLevel({ test: 15, verify: 200 }) },
    );
  });
});
