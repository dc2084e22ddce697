import fc from 'fast-check';
import { expect } from 'vitest';
import { testTable } from '../../packages/client/src/worker/testing/table-schema.ts';
import { buildSchema, type CellValue } from '../../packages/shared/src/index.ts';
import { LiveDatabase } from '../../packages/sync-server/src/fanout/live-database.ts';
import { openDatabaseFile } from '../../packages/sync-server/src/store/database-file.ts';
import { DirectDevice } from './direct-device.ts';

/* Values of any kind on their way from one device over the server to another. What is stored at the end is what the first device's own SQLite stored. */

const COLUMNS = ['words', 'whole', 'fraction', 'anything'] as const;
const thing = testTable('thing', { id: 'text not null', words: 'text', whole: 'integer', fraction: 'real', anything: 'blob' });
const schema = buildSchema([thing]);
const SELECT = 'SELECT id, words, whole, fraction, anything FROM thing ORDER BY id';

/** What parsers, databases and screens have stumbled over. */
const NAUGHTY: readonly string[] = [
  '', ' ', '\t\n\r\v\f', '0', '-0', '1e309', '0x1F', '1_000', '９', 'NaN', 'Infinity', 'null', 'undefined', 'true', '\\', '\\u0000', "'", "''", '"', '`', '--', '/*', "'); DROP TABLE thing; --", '%s%n', '{{x}}', '<script>alert(1)</script>',
  '\uFEFF', '\u200B', '\u202E\u0645', 'e\u0301', 'é', '가', '각', '👩‍👩‍👧', '\u{10FFFF}', '\uFFFD', '\uFFFE', '\u0001\u001F', 'ĳ', 'İi', 'ﬀ', '[', '{"a":', '{"a":1,"a":2}', '[1.0]', '["\\ud800"]', '-', '[1e-999]', '"\\uD83D\\uDE00"', '[][[]]',
];
const text: fc.Arbitrary<string> = fc.oneof(fc.constantFrom(...NAUGHTY), fc.string({ unit: 'binary', maxLength: 30 }), fc.string({ unit: 'grapheme', maxLength: 10 }));
const whole: fc.Arbitrary<bigint> = fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.constantFrom(-(2n ** 63n), 2n ** 63n - 1n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, 0n, -1n, 255n, 256n, 2n ** 31n, 2n ** 32n));
const fraction: fc.Arbitrary<number> = fc.oneof(fc.double(), fc.constantFrom(0, -0, 5e-324, -5e-324, 2.2250738585072014e-308, Number.MAX_VALUE, 2 ** 53, 2 ** 63, -(2 ** 63), 0.1, 1 / 3, 1e21, Infinity, NaN));
const bytes: fc.Arbitrary<Uint8Array> = fc.uint8Array({ maxLength: 40 });
const any = fc.oneof(fc.constant(null), text, whole, fraction, bytes);
/** Mostly what a column is for, sometimes anything: what becomes of it then is SQLite's to say. */
const mostly = (arbitrary: fc.Arbitrary<string | bigint | number>): fc.Arbitrary<string | bigint | number | Uint8Array | null> => fc.oneof({ weight: 4, arbitrary }, { weight: 1, arbitrary: any });
const row = fc.tuple(mostly(text), mostly(whole), mostly(fraction), any);
const batch = fc.record({ inserts: fc.array(row, { minLength: 20, maxLength: 20, size: 'max' }), updates: fc.array(row, { minLength: 5, maxLength: 5 }) });

export interface RoundTrips {
  readonly taken: number;
  readonly refused: number;
}

/** At least so many values; gives how many were stored, and how many the first device refused. What it refuses is nowhere. */
export async function sendValues(count: number, seed: number): Promise<RoundTrips> {
  let [taken, refused] = [0, 0];
  for (let run = 0; taken + refused < count; run++) {
    const live = new LiveDatabase(openDatabaseFile(':memory:', schema), {
      onFailure: (error) => {
        throw error;
      },
    });
    const [one, two] = [1, 2].map((number) => new DirectDevice(schema, () => 1_700_000_000_000, number)) as [DirectDevice, DirectDevice];
    let requests = 0;
    const write = (sql: string, params: readonly CellValue[]): void => {
      try {
        one.database.write({ id: `v${++requests}`, statements: [{ sql, params: [...params] }] });
        taken += COLUMNS.length;
      } catch (error) {
        expect(error).toMatchObject({ code: 'value-invalid' });
        refused += COLUMNS.length;
      }
    };
    for (const [number, { inserts, updates }] of fc.sample(batch, { seed: seed + run, numRuns: 20 }).entries()) {
      for (const [index, values] of inserts.entries()) write('INSERT INTO thing (id, words, whole, fraction, anything) VALUES (?, ?, ?, ?, ?)', [`${number}-${index}`, ...values]);
      await one.settle(live);
      for (const [index, values] of updates.entries()) write('UPDATE thing SET words = ?, whole = ?, fraction = ?, anything = ? WHERE id = ?', [...values, `${number}-${index}`]);
    }
    await one.settle(live);
    await two.settle(live);
    const expected = storedIn(one);
    expect(storedIn(two), `seed ${seed + run}`).toEqual(expected);
    expect(live.file.sql.all(SELECT), `seed ${seed + run}`).toEqual(expected);
    for (const device of [one, two]) device.close();
    await live.close();
  }
  return { taken, refused };
}

/** As SQLite has it: REAL as number, INTEGER as bigint. */
function storedIn({ database }: DirectDevice): CellValue[][] {
  const statement = database.connection.prepare(SELECT);
  try {
    const rows: CellValue[][] = [];
    while (statement.step()) rows.push(Array.from({ length: 1 + COLUMNS.length }, (_, column) => statement.readCell(column)));
    return rows;
  } finally {
    statement.release();
  }
}
