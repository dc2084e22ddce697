import { describe, expect, it } from 'vitest';
import type { SqlParam } from '#client/rpc/sql-value.ts';
import type { CellValue } from '#shared/index.ts';
import type { SocketDevice } from '#kit/socket-device.ts';
import { withServer } from '#kit/with-server.ts';

/* Sends values through the real client and the real server to another device and back. */

const upToDate = (device: SocketDevice): boolean =>
  device.report?.state === 'up-to-date' && device.report.pendingCount === 0;

/** The value as stored: REAL as number, INTEGER as bigint. */
function stored(device: SocketDevice, column: string): CellValue {
  const statement = device.database.connection.prepare(`SELECT ${column} FROM account WHERE id = 'a'`);
  try {
    statement.step();
    return statement.readCell(0);
  } finally {
    statement.release();
  }
}

const onServer = (server: Parameters<Parameters<typeof withServer>[0]>[0], column: string): CellValue =>
  server.query(`SELECT ${column} FROM account WHERE id = 'a'`)[0]?.[0] ?? null;

describe('values', () => {
  it.each<[string, string, SqlParam, CellValue]>([
    ['an empty text', 'name', '', ''],
    [
      'a text of many scripts, with a byte order mark',
      'name',
      '\uFEFFæøå 漢字 👩‍👩‍👧 e\u0301',
      '\uFEFFæøå 漢字 👩‍👩‍👧 e\u0301',
    ],
    ['a text that looks like a number, in a text column', 'name', '007', '007'],
    ['the first integer that a number cannot hold', 'amount', 2n ** 53n + 1n, 2n ** 53n + 1n],
    ['the largest integer', 'amount', 2n ** 63n - 1n, 2n ** 63n - 1n],
    ['the smallest integer', 'amount', -(2n ** 63n), -(2n ** 63n)],
    ['a fraction', 'rate', 0.1, 0.1],
    ['the smallest fraction', 'rate', 5e-324, 5e-324],
    ['the largest number', 'rate', Number.MAX_VALUE, Number.MAX_VALUE],
    ['a whole number in a real column', 'rate', 3, 3],
    ['an empty blob', 'extra', new Uint8Array(0), new Uint8Array(0)],
    ['a blob of all bytes', 'extra', new Uint8Array(256).map((_, i) => i), new Uint8Array(256).map((_, i) => i)],
    ['NULL', 'extra', null, null],
  ])('%s arrives unchanged, by insert and by update, in both directions [MR-50]', (_, column, written, expected) =>
    withServer(async (server, device) => {
      const one = device();
      const two = device();
      one.write(`INSERT INTO account (id, ${column}) VALUES ('a', ?)`, written);
      await one.until(() => upToDate(one));
      await two.until(() => two.rows('SELECT 1 FROM account').length > 0);
      for (const replica of [one, two]) expect(stored(replica, column)).toEqual(expected);
      expect(onServer(server, column)).toEqual(expected);
      two.write(
        `UPDATE account SET ${column} = ? WHERE id = 'a'`,
        column === 'amount' ? 5n : column === 'rate' ? 0.5 : column === 'extra' ? Uint8Array.of(5) : 'changed',
      );
      await one.until(() => one.rows(`SELECT 1 FROM account WHERE ${column} IN (5, 0.5, x'05', 'changed')`).length > 0);
      two.write(`UPDATE account SET ${column} = ? WHERE id = 'a'`, written);
      await two.until(() => upToDate(two));
      await one.until(
        () => one.rows(`SELECT 1 FROM account WHERE ${column} IN (5, 0.5, x'05', 'changed')`).length === 0,
      );
      expect(stored(one, column)).toEqual(expected);
      expect(one.problems).toEqual([]);
    }),
  );

  it('an empty blob is not NULL [MR-51]', () =>
    withServer(async (server, device) => {
      const one = device();
      const two = device();
      one.write("INSERT INTO account (id, extra) VALUES ('a', x'00')");
      await two.until(() => two.rows('SELECT 1 FROM account').length > 0);
      for (const [sql, type] of [
        ['NULL', 'null'],
        ["x''", 'blob'],
        ['NULL', 'null'],
        ["x'00'", 'blob'],
      ] as const) {
        one.write(`UPDATE account SET extra = ${sql} WHERE id = 'a'`);
        await two.until(() => two.rows('SELECT typeof(extra) FROM account').flat()[0] === type);
        expect(server.query('SELECT typeof(extra) FROM account')).toEqual([[type]]);
      }
    }));

  it('-0.0 is written as 0.0, on every replica [MR-54]', () =>
    withServer(async (server, device) => {
      const one = device();
      const two = device();
      one.write("INSERT INTO account (id, rate) VALUES ('a', ?)", -0);
      await two.until(() => two.rows('SELECT 1 FROM account').length > 0);
      expect([stored(one, 'rate'), stored(two, 'rate'), onServer(server, 'rate')]).toEqual([0, 0, 0]);
    }));

  it('-0.0 that SQL computes equals 0.0 on every replica [MR-54]', () =>
    withServer(async (server, device) => {
      const one = device();
      const two = device();
      one.write("INSERT INTO account (id, rate) VALUES ('a', -1 * 0.0)");
      await two.until(() => two.rows('SELECT 1 FROM account').length > 0);
      const isZero = 'SELECT rate = 0.0, typeof(rate) FROM account';
      for (const rows of [one.rows(isZero), two.rows(isZero), server.query(isZero)])
        expect(rows.flat().map((value) => (typeof value === 'bigint' ? Number(value) : value))).toEqual([1, 'real']);
    }));

  it('SQL turns NaN into NULL on every replica [MR-55]', () =>
    withServer(async (server, device) => {
      const one = device();
      const two = device();
      one.write("INSERT INTO account (id, rate) VALUES ('a', 9e999 - 9e999)");
      await two.until(() => two.rows('SELECT 1 FROM account').length > 0);
      expect([stored(one, 'rate'), stored(two, 'rate'), onServer(server, 'rate')]).toEqual([null, null, null]);
    }));
});

describe('a value that cannot be sent', () => {
  const refused: [string, string, readonly SqlParam[], string, object][] = [
    ['NaN', 'INSERT INTO account (id, rate) VALUES (?, ?)', ['a', Number.NaN], 'not-a-number', {}],
    [
      'an infinity as a parameter',
      'INSERT INTO account (id, rate) VALUES (?, ?)',
      ['a', Infinity],
      'not-finite',
      { table: 'account', column: 'rate' },
    ],
    [
      'an infinity that SQL makes',
      "INSERT INTO account (id, rate) VALUES ('a', -9e999)",
      [],
      'not-finite',
      { table: 'account', column: 'rate' },
    ],
    [
      'a text with NUL',
      'INSERT INTO account (id, name) VALUES (?, ?)',
      ['a', 'a\u0000b'],
      'text-nul',
      { table: 'account', column: 'name' },
    ],
    [
      'a text with NUL that SQL makes',
      "INSERT INTO account (id, name) VALUES ('a', 'a' || char(0))",
      [],
      'text-nul',
      { table: 'account', column: 'name' },
    ],
    ['a lone surrogate', 'INSERT INTO account (id, name) VALUES (?, ?)', ['a', '\uD800'], 'text-surrogate', {}],
    [
      'a text that is not UTF-8',
      "INSERT INTO account (id, name) VALUES ('a', CAST(x'ff' AS TEXT))",
      [],
      'text-not-utf8',
      { table: 'account', column: 'name' },
    ],
    [
      'a lone surrogate as bytes',
      "INSERT INTO account (id, name) VALUES ('a', CAST(x'eda080' AS TEXT))",
      [],
      'text-not-utf8',
      { table: 'account', column: 'name' },
    ],
    [
      'a key that is not UTF-8',
      "INSERT INTO account (id) VALUES (CAST(x'ff' AS TEXT))",
      [],
      'text-not-utf8',
      { table: 'account', column: 'id' },
    ],
    [
      'a text that is not UTF-8, in a table with a generated column',
      "INSERT INTO priced (id) VALUES (CAST(x'ff' AS TEXT))",
      [],
      'text-not-utf8',
      { table: 'priced', column: 'id' },
    ],
  ];

  it.each(refused)(
    'fails the local write with a reason and leaves nothing behind: %s [MR-55] [MR-56]',
    (_, sql, params, problem, fields) =>
      withServer(async (server, device) => {
        const one = device();
        const attempt = (): void => one.write(sql, ...params);
        expect(attempt).toThrow(
          expect.objectContaining({
            code: 'value-invalid',
            fields: expect.objectContaining({ problem, ...fields }) as unknown,
          }),
        );
        one.write("INSERT INTO account (id, name) VALUES ('after', 'good')");
        await one.until(() => upToDate(one));
        expect(one.rows('SELECT id FROM account')).toEqual([['after']]);
        expect(server.query('SELECT id FROM account')).toEqual([['after']]);
      }),
  );
});
