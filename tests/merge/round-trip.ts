import fc from 'fast-check';
import { expect } from 'vitest';
import { anyCharacter } from '#shared/testing/any-character.ts';
import { testTable } from '#client/testing/worker/table-schema.ts';
import { buildSchema, type CellValue, type RockpoolError } from '#shared/index.ts';
import { LiveDatabase } from '#sync-server/database/live-database.ts';
import { openDatabaseFile } from '#sync-server/store/database-file.ts';
import { openCopyFile } from '#sync-server/store/postgres/working-copy.ts';
import { DirectDevice } from '#kit/direct-device.ts';

/*
 * Sends values of any kind, in keys and in columns of every type, from one device through the server to another. Values
 * that the first device's SQLite stored are identical on the server and on the other device, byte for byte; values that
 * it refused are on no replica; and the server rejects none that it accepted.
 */

const TABLES = {
  thing: ['id', 'words', 'whole', 'fraction', 'price', 'bytes'],
  // Composite keys, and keys of each supported type.
  place: ['list', 'number', 'note'],
  stamp: ['mark', 'note'],
} as const;
type TableName = keyof typeof TABLES;

export const roundTripSchema = buildSchema([
  testTable('thing', {
    id: 'text not null',
    words: 'text',
    whole: 'integer',
    fraction: 'real',
    price: 'numeric',
    bytes: 'blob',
  }),
  testTable(
    'place',
    { list: 'text not null', number: 'integer not null', note: 'text' },
    { primaryKey: ['list', 'number'] },
  ),
  testTable('stamp', { mark: 'blob not null', note: 'text' }, { primaryKey: ['mark'] }),
]);

/** Strings known to break parsers, databases and displays. */
const NAUGHTY: readonly string[] = [
  '',
  ' ',
  '\t\n\r\v\f',
  '0',
  '-0',
  '1e309',
  '0x1F',
  '1_000',
  '９',
  'NaN',
  'Infinity',
  'null',
  'undefined',
  'true',
  '\\',
  '\\u0000',
  "'",
  "''",
  '"',
  '`',
  '--',
  '/*',
  "'); DROP TABLE thing; --",
  '%s%n',
  '{{x}}',
  '<script>alert(1)</script>',
  '\uFEFF',
  '\u200B',
  '\u202E\u0645',
  'e\u0301',
  'é',
  '가',
  '각',
  '👩‍👩‍👧',
  '\u{10FFFF}',
  '\uFFFD',
  '\uFFFE',
  '\u0001\u001F',
  'ĳ',
  'İi',
  'ﬀ',
  '[',
  '{"a":',
  '{"a":1,"a":2}',
  '[1.0]',
  '["\\ud800"]',
  '-',
  '[1e-999]',
  '"\\uD83D\\uDE00"',
  '[][[]]',
  // Strings that a column with numeric affinity converts, and strings that it keeps.
  '1',
  '1.0',
  ' 1 ',
  '+1',
  '1e0',
  '1.5',
  '-1.50',
  '9223372036854775807',
  '9223372036854775808',
  '-9223372036854775808',
  '9007199254740993',
  '1e300',
  '5e-324',
  '0x10',
  '1e',
  '.5',
  '5.',
  '007',
  'a',
  'A',
  'a ',
];
const text: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...NAUGHTY),
  fc.string({ unit: anyCharacter, maxLength: 30 }),
  fc.string({ unit: 'grapheme', maxLength: 10 }),
);
const whole: fc.Arbitrary<bigint> = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constantFrom(
    -(2n ** 63n),
    2n ** 63n - 1n,
    2n ** 53n - 1n,
    2n ** 53n,
    2n ** 53n + 1n,
    -(2n ** 53n) - 1n,
    0n,
    -1n,
    1n,
    255n,
    256n,
    2n ** 31n,
    2n ** 32n,
  ),
);
const fraction: fc.Arbitrary<number> = fc.oneof(
  fc.double(),
  fc.constantFrom(
    0,
    -0,
    1,
    -1,
    1.5,
    5e-324,
    -5e-324,
    2.2250738585072014e-308,
    Number.MAX_VALUE,
    -Number.MAX_VALUE,
    2 ** 53,
    2 ** 63,
    -(2 ** 63),
    0.1,
    1 / 3,
    1e21,
    1e300,
    Infinity,
    NaN,
  ),
);
const bytes: fc.Arbitrary<Uint8Array> = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.constantFrom(Uint8Array.of(), Uint8Array.of(0), Uint8Array.of(49), Uint8Array.of(97)),
);
const any = fc.oneof(fc.constant(null), text, whole, fraction, bytes);
/** Mostly a value of the column's type, sometimes any value: SQLite decides what to store. */
const mostly = (arbitrary: fc.Arbitrary<string | bigint | number | Uint8Array>): fc.Arbitrary<CellValue> =>
  fc.oneof({ weight: 12, arbitrary }, { weight: 1, arbitrary: any });
const few = <T>(arbitrary: fc.Arbitrary<T>, length: number): fc.Arbitrary<T[]> =>
  fc.array(arbitrary, { minLength: length, maxLength: length, size: 'max' });
const thing = fc.tuple(mostly(text), mostly(whole), mostly(fraction), mostly(fc.oneof(whole, fraction)), mostly(bytes));
const place = fc.tuple(mostly(text), mostly(whole), mostly(text));
const stamp = fc.tuple(mostly(bytes), mostly(text));
const batch = fc.record({
  inserts: few(thing, 20),
  updates: few(thing, 5),
  places: few(place, 5),
  stamps: few(stamp, 5),
  keyChanges: few(fc.tuple(mostly(text), mostly(whole), mostly(bytes)), 2),
});

/** How the server's file admits changesets: as the file store does, or as a working copy of PostgreSQL. */
export type RoundTripStore = 'files' | 'PostgreSQL';

export interface RoundTrips {
  readonly taken: number;
  readonly refused: number;
}

/** Sends at least this many values. Returns how many were stored and how many the first device refused. */
export async function sendValues(count: number, seed: number, store: RoundTripStore = 'files'): Promise<RoundTrips> {
  let [taken, refused] = [0, 0];
  for (let run = 0; taken + refused < count; run++) {
    const file =
      store === 'files'
        ? openDatabaseFile(':memory:', roundTripSchema)
        : openCopyFile(':memory:', roundTripSchema, 'values');
    const live = new LiveDatabase(file, {
      onFailure: (error) => {
        throw error;
      },
    });
    const [one, two] = [1, 2].map((number) => new DirectDevice(roundTripSchema, () => 1_700_000_000_000, number)) as [
      DirectDevice,
      DirectDevice,
    ];
    let requests = 0;
    const write = (sql: string, params: readonly CellValue[]): void => {
      try {
        one.database.write({ id: `v${++requests}`, statements: [{ sql, params: [...params] }] });
        taken += params.length;
      } catch (error) {
        // SQLite refuses a key that is NULL or already exists.
        expect(
          [
            'value-invalid',
            'key-invalid',
            'constraint-data-type',
            'constraint-not-null',
            'constraint-unique',
            'constraint-primary-key',
          ],
          String(error),
        ).toContain((error as RockpoolError).code);
        refused += params.length;
      }
    };
    for (const [number, { inserts, updates, places, stamps, keyChanges }] of fc
      .sample(batch, { seed: seed + run, numRuns: 20 })
      .entries()) {
      for (const [index, values] of inserts.entries())
        write('INSERT INTO thing (id, words, whole, fraction, price, bytes) VALUES (?, ?, ?, ?, ?, ?)', [
          `${number}-${index}`,
          ...values,
        ]);
      for (const values of places) write('INSERT OR REPLACE INTO place (list, number, note) VALUES (?, ?, ?)', values);
      for (const values of stamps) write('INSERT OR REPLACE INTO stamp (mark, note) VALUES (?, ?)', values);
      await one.settle(live);
      for (const [index, values] of updates.entries())
        write('UPDATE thing SET words = ?, whole = ?, fraction = ?, price = ?, bytes = ? WHERE id = ?', [
          ...values,
          `${number}-${index}`,
        ]);
      for (const [list, where, mark] of keyChanges) {
        write(
          'UPDATE OR REPLACE place SET list = ?, number = ? WHERE list IN (SELECT list FROM place ORDER BY list LIMIT 1)',
          [list, where],
        );
        write('UPDATE OR REPLACE stamp SET mark = ? WHERE mark IN (SELECT mark FROM stamp ORDER BY mark LIMIT 1)', [
          mark,
        ]);
      }
    }
    await one.settle(live);
    await two.settle(live);
    expect(one.rows('SELECT code, fields_json FROM rockpool_parked'), `seed ${seed + run}`).toEqual([]);
    for (const name of Object.keys(TABLES) as TableName[]) {
      const expected = storedIn(one, name);
      expect(expected.length).toBeGreaterThan(0);
      expect(storedIn(two, name), `seed ${seed + run}`).toEqual(expected);
      expect(live.file.sql.all(selectOf(name)), `seed ${seed + run}`).toEqual(expected);
    }
    for (const device of [one, two]) device.close();
    await live.close();
  }
  return { taken, refused };
}

const selectOf = (name: TableName): string => `SELECT ${TABLES[name].join(', ')} FROM ${name} ORDER BY 1, 2`;

/** The value as SQLite stores it: REAL as number, INTEGER as bigint. */
function storedIn({ database }: DirectDevice, name: TableName): CellValue[][] {
  const statement = database.connection.prepare(selectOf(name));
  try {
    const rows: CellValue[][] = [];
    while (statement.step()) rows.push(TABLES[name].map((_, column) => statement.readCell(column)));
    return rows;
  } finally {
    statement.release();
  }
}
