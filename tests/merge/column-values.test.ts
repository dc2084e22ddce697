import { describe, expect, it } from 'vitest';
import { testTable } from '#client/testing/worker/table-schema.ts';
import type { SqlParam } from '#client/rpc/sql-value.ts';
import { buildSchema, type CellValue, type ErrorCode, type ErrorFields } from '#shared/index.ts';
import { postgresUnderTest } from '#sync-server/testing/postgres-under-test.ts';
import { TestServer } from '#sync-server/testing/test-server.ts';
import type { SocketDevice } from '#kit/socket-device.ts';
import { startDevice, withServer as onServer } from '#kit/with-server.ts';
import { temporaryFolder } from '#kit/temporary-folder.ts';

/* Values whose type differs from their column's: docs/values.md. Real clients and real servers on both stores. */

const schema = buildSchema([
  testTable(
    'place',
    { list: 'text not null', number: 'integer not null', note: 'text' },
    { primaryKey: ['list', 'number'] },
  ),
  testTable('tag', { id: 'blob not null', note: 'text' }),
  testTable(
    'item',
    {
      id: 'text not null',
      words: 'text',
      whole: 'integer',
      fraction: 'real',
      price: 'numeric',
      bytes: 'blob',
      hits: 'integer not null default 0',
    },
    {
      merge: { deleteRule: 'delete-wins', counters: ['hits'], groups: [], documents: [] },
      indexes: [{ name: 'item_words', unique: true, expressions: ['"words" COLLATE NOCASE'], whereSql: null }],
    },
  ),
]);

const postgres = postgresUnderTest();
type Body = Parameters<typeof onServer>[0];
const withSchema =
  (body: Body): Body =>
  (server, device) =>
    body(server, (options) => device({ schema, ...options }));
type WithServer = (body: Body) => Promise<void>;
const stores: readonly { readonly store: string; readonly withServer: WithServer }[] = [
  { store: 'files', withServer: (body) => onServer(withSchema(body), { schema }) },
  {
    store: 'PostgreSQL',
    withServer: async (body) =>
      onServer(withSchema(body), { schema, postgres: (await postgres.server.createDatabase()).url }),
  },
];

const upToDate = (device: SocketDevice): boolean =>
  device.report?.state === 'up-to-date' && device.report.pendingCount === 0;

describe.each(stores)('with a server on $store, a statement', ({ withServer }) => {
  const refused: readonly [
    string,
    string,
    readonly SqlParam[],
    { readonly code: ErrorCode; readonly fields?: ErrorFields },
  ][] = [
    [
      'a text as an integer part of a key',
      "INSERT INTO place (list, number) VALUES ('l', 'abc')",
      [],
      {
        code: 'key-invalid',
        fields: { problem: 'type', table: 'place', column: 'number', columnType: 'integer', valueType: 'text' },
      },
    ],
    [
      'a fraction as an integer part of a key',
      "INSERT INTO place (list, number) VALUES ('l', 1.5)",
      [],
      { code: 'key-invalid' },
    ],
    [
      'a whole number beyond 64 bits as an integer part of a key',
      "INSERT INTO place (list, number) VALUES ('l', 9223372036854775808)",
      [],
      { code: 'key-invalid' },
    ],
    [
      'a blob as an integer part of a key',
      "INSERT INTO place (list, number) VALUES ('l', x'31')",
      [],
      { code: 'key-invalid' },
    ],
    [
      'a blob as a text part of a key',
      "INSERT INTO place (list, number) VALUES (x'6c', 1)",
      [],
      { code: 'key-invalid', fields: { table: 'place', column: 'list' } },
    ],
    ['a key that becomes another type', "UPDATE place SET number = 'abc'", [], { code: 'key-invalid' }],
    [
      'a text as a blob key',
      "INSERT INTO tag (id) VALUES ('abc')",
      [],
      { code: 'key-invalid', fields: { table: 'tag', column: 'id' } },
    ],
    ['an integer as a blob key', 'INSERT INTO tag (id) VALUES (?)', [1], { code: 'key-invalid' }],
    ['a fraction as a blob key', 'INSERT INTO tag (id) VALUES (1.0)', [], { code: 'key-invalid' }],
    [
      'a key of more than 2,000 bytes',
      'INSERT INTO item (id) VALUES (?)',
      ['é'.repeat(1_001)],
      { code: 'key-invalid', fields: { problem: 'too-large', table: 'item', limitBytes: 2_000 } },
    ],
    [
      'a text in an integer column',
      "UPDATE item SET whole = 'many'",
      [],
      {
        code: 'constraint-data-type',
        fields: { table: 'item', column: 'whole', columnType: 'integer', valueType: 'text' },
      },
    ],
    ['a fraction in an integer column', 'UPDATE item SET whole = 1.5', [], { code: 'constraint-data-type' }],
    [
      'a blob in an integer column',
      "INSERT INTO item (id, whole) VALUES ('j', x'00')",
      [],
      { code: 'constraint-data-type' },
    ],
    [
      'a text in a real column',
      "UPDATE item SET fraction = 'half'",
      [],
      { code: 'constraint-data-type', fields: { table: 'item', column: 'fraction' } },
    ],
    [
      'a text in a numeric column',
      "UPDATE item SET price = 'cheap'",
      [],
      { code: 'constraint-data-type', fields: { table: 'item', column: 'price' } },
    ],
    [
      'a blob in a text column',
      "UPDATE item SET words = x'61'",
      [],
      { code: 'constraint-data-type', fields: { table: 'item', column: 'words' } },
    ],
    [
      'a text in a blob column',
      "UPDATE item SET bytes = 'abc'",
      [],
      { code: 'constraint-data-type', fields: { table: 'item', column: 'bytes' } },
    ],
    [
      'an integer in a blob column',
      'UPDATE item SET bytes = 1',
      [],
      { code: 'constraint-data-type', fields: { table: 'item', column: 'bytes' } },
    ],
    [
      'a text in a counter',
      "UPDATE item SET hits = 'many'",
      [],
      { code: 'value-invalid', fields: { problem: 'counter-not-integer', table: 'item', column: 'hits' } },
    ],
    [
      'a text in a new counter',
      "INSERT INTO item (id, hits) VALUES ('j', 'many')",
      [],
      { code: 'value-invalid', fields: { problem: 'counter-not-integer', table: 'item', column: 'hits' } },
    ],
  ];

  it('fails before anything is stored if its column cannot hold a value, and names table, column and types [MR-52] [VK-01]', () =>
    withServer(async (server, device) => {
      const [one, two] = [device(), device()];
      one.write("INSERT INTO place (list, number, note) VALUES ('l', 1, 'first')");
      one.write("INSERT INTO item (id, hits) VALUES ('i', 3)");
      for (const [what, sql, params, { code, fields = {} }] of refused)
        expect(() => one.write(sql, ...params), what).toThrow(
          expect.objectContaining({ code, fields: expect.objectContaining(fields) as unknown }) as Error,
        );
      expect(one.rows('SELECT count(*) FROM rockpool_changelog')).toEqual([[2]]);
      one.write("INSERT INTO tag (id, note) VALUES (x'01', 'after')");
      await one.until(() => upToDate(one));
      await two.until(() => two.rows('SELECT 1 FROM tag').length > 0);
      const all =
        'SELECT quote(list), quote(number), note FROM place UNION ALL SELECT quote(id), hits, words FROM item UNION ALL SELECT quote(id), 0, note FROM tag';
      for (const replica of [one, two])
        expect(replica.rows(all)).toEqual([
          ["'l'", '1', 'first'],
          ["'i'", 3, null],
          ["X'01'", 0, 'after'],
        ]);
      expect(server.query('SELECT count(*) FROM place')).toEqual([[1n]]);
      expect([...one.problems, ...two.problems]).toEqual([]);
    }));

  it('stores the converted value on every replica if SQLite converts it [VK-02]', () =>
    withServer(async (server, device) => {
      const [one, two] = [device(), device()];
      one.write("INSERT INTO place (list, number) VALUES (7, '8'), ('l', 2.0)");
      one.write(
        "INSERT INTO item (id, words, whole, fraction, price) VALUES (9, 1.5, '12', 3, '12.50'), ('true', ?, ?, '0.5', ?)",
        true,
        true,
        1e300,
      );
      await one.until(() => upToDate(one));
      await two.until(() => two.rows('SELECT 1 FROM item').length > 0);
      const quoted =
        'SELECT quote(list), quote(number), 0, 0, 0 FROM place UNION ALL SELECT quote(id), quote(words), quote(whole), quote(fraction), quote(price) FROM item ORDER BY 1, 2';
      const expected = [
        ["'7'", '8', 0, 0, 0],
        ["'9'", "'1.5'", '12', '3.0', '12.5'],
        ["'l'", '2', 0, 0, 0],
        ["'true'", "'1'", '1', '0.5', '1.0e+300'],
      ];
      for (const replica of [one, two]) expect(replica.rows(quoted)).toEqual(expected);
      expect(
        server.query(quoted).map((row) => row.map((value) => (typeof value === 'bigint' ? Number(value) : value))),
      ).toEqual(expected);
      expect([...one.problems, ...two.problems]).toEqual([]);
    }));
});

describe.each(stores)('with a server on $store, a transaction', ({ withServer }) => {
  it('fails at COMMIT if a column then holds a value of the wrong type [VK-04]', () =>
    withServer(async (server, device) => {
      const one = device();
      const { database } = one;
      const wrong = database.begin({ atomic: false });
      wrong.execute({ sql: "INSERT INTO item (id, whole) VALUES ('i', 'many')", params: [] });
      expect(() => wrong.commit('wrong')).toThrow(expect.objectContaining({ code: 'constraint-data-type' }) as Error);
      expect(one.rows('SELECT id FROM item')).toEqual([]);
      const right = database.begin({ atomic: false });
      right.execute({ sql: "INSERT INTO item (id, whole) VALUES ('i', 'many')", params: [] });
      right.execute({ sql: 'UPDATE item SET whole = 2', params: [] });
      right.commit('right');
      one.write("UPDATE item SET words = 'after'");
      await one.until(() => upToDate(one));
      expect(server.query('SELECT id, whole, words FROM item')).toEqual([['i', 2n, 'after']]);
    }));

  it('is decided by the server for both devices if a unique index treats their values as equal [VK-06]', () =>
    withServer(async (server, device) => {
      const [one, two] = [device(), device()];
      one.write("INSERT INTO item (id, words) VALUES ('a', 'Tea')");
      two.write("INSERT INTO item (id, words) VALUES ('b', 'TEA')");
      for (const each of [one, two])
        await each.until(() => upToDate(each) && each.rows('SELECT 1 FROM item').length === 1);
      const [stored] = server.query('SELECT id, words FROM item');
      for (const each of [one, two]) expect(each.rows('SELECT id, words FROM item')).toEqual([stored]);
      expect([one, two].flatMap(({ database }) => database.listRejected().map(({ reason }) => reason.code))).toEqual([
        'constraint-unique',
      ]);
      expect(() => one.write("INSERT INTO item (id, words) VALUES ('c', 'tea')")).toThrow(
        expect.objectContaining({ code: 'constraint-unique' }) as Error,
      );
    }));
});

describe('with several servers on PostgreSQL', () => {
  it('a server that reads the database again has every value as it was written, byte for byte [VK-05]', async () => {
    const { url } = await postgres.server.createDatabase();
    await onServer(
      async (first, device) => {
        const one = device({ schema });
        const numbers: SqlParam[] = [
          0.1,
          1 / 3,
          5e-324,
          -5e-324,
          2.2250738585072014e-308,
          1e22,
          1e300,
          Number.MAX_VALUE,
          -Number.MAX_VALUE,
          2 ** 63,
          -(2 ** 63),
          2n ** 63n - 1n,
          -(2n ** 63n),
          2n ** 53n + 1n,
          123456789.12345679,
          4.35,
          1.7976931348623155e308,
          '12.50',
          '1e5',
          '0.1e-300',
          8.5e-17,
          null,
        ];
        for (const [index, value] of numbers.entries())
          one.write(
            'INSERT INTO item (id, price, fraction, whole, words, bytes) VALUES (?, ?, ?, ?, ?, ?)',
            `n${index}`,
            value,
            value,
            typeof value === 'bigint' ? value : null,
            String(value),
            Uint8Array.of(index, 0),
          );
        for (const [list, number] of [
          ['', 0n],
          ['A', -(2n ** 63n)],
          ['a', 2n ** 63n - 1n],
          ['a ', 1n],
          ['é', 1n],
          ['e\u0301', 1n],
          ['\u{10FFFF}', 1n],
        ] as const)
          one.write('INSERT INTO place (list, number) VALUES (?, ?)', list, number);
        for (const id of [
          new Uint8Array(0),
          Uint8Array.of(0),
          Uint8Array.of(0, 0),
          Uint8Array.of(49),
          Uint8Array.of(255),
        ])
          one.write('INSERT INTO tag (id) VALUES (?)', id);
        await one.until(() => upToDate(one));
        const folder = temporaryFolder();
        const second = await TestServer.start(folder, { schema, postgres: url });
        const two = startDevice(second, { schema });
        try {
          await two.until(() => two.rows('SELECT 1 FROM tag').length > 0 && upToDate(two));
          for (const table of ['item', 'place', 'tag']) {
            const stored = exactRows(one, table);
            expect(exactRows(two, table)).toEqual(stored);
            for (const server of [first, second])
              expect(server.query(`SELECT * FROM ${table} ORDER BY 1, 2`)).toEqual(stored);
          }
        } finally {
          await two.close();
          await second.stop();
        }
      },
      { schema, postgres: url },
    );
  });
});

/** Returns REAL as number and INTEGER as bigint. */
function exactRows({ database }: SocketDevice, table: string): CellValue[][] {
  const statement = database.connection.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`);
  try {
    const rows: CellValue[][] = [];
    while (statement.step()) rows.push(statement.readCells());
    return rows;
  } finally {
    statement.release();
  }
}
