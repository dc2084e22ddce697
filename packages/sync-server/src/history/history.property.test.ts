import fc from 'fast-check';
import { buildSchema, encodeKey, type CellValue } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import { atLevel } from '../../../../tests/kit/level.ts';
import { checkConvergence, history, rowsOf } from '../../testing/random-history.ts';
import { rowNameOf } from '../../testing/replica.ts';
import { TEST_TABLES } from '../../testing/test-schema.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { readHistory, readRowAtVersion } from './read-history.ts';

const schema = buildSchema(TEST_TABLES.map((table) => ({ ...table, history: { retainedDays: null } })));
const NOW_MS = 1_800_000_000_000;
const KEYS: readonly (readonly CellValue[])[] = [['a'], ['b'], ['a', 1n], ['b', 1n]];

/** Records all rows at every watermark, and compares them with the history in the end. */
function watch(file: DatabaseFile): () => void {
  const states = [new Map<string, ReadonlyMap<number, CellValue>>()];
  const append = file.log.append.bind(file.log);
  file.log.append = (entry) => {
    append(entry);
    states[entry.watermark] = rowsOf(file);
  };
  return () => {
    for (const table of schema.tables) {
      for (const key of KEYS.filter(({ length }) => length === table.primaryKey.length)) {
        const name = rowNameOf(table.id, key);
        const row = { table: table.name, key: encodeKey(key) };
        const changedAt = states.flatMap((state, w) =>
          w > 0 && !sameRow(state.get(name), states[w - 1]?.get(name)) ? [w] : [],
        );
        const { versions, isTruncated } = readHistory(file, { ...row, before: null, limit: 200, column: null }, NOW_MS);
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
      { numRuns: atLevel({ test: 40, verify: 200 }) },
    );
  });
});
