import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  buildSchema,
  columnIdOf,
  encodeKey,
  NO_VERSION,
  type Cell,
  type CellValue,
  type Schema,
  type Version,
} from '@rockpool/shared';
import { column, table, TEST_SCHEMA, TEST_TABLES } from '../../testing/test-schema.ts';
import { hasTakenEffect, pruneOrigins, saveOrigin } from '../log/origins.ts';
import type { OpenDatabase } from './durability.ts';
import { identityOf } from './identity.ts';
import type { StoredTable } from '../sqlite/stored-table.ts';
import { readKnownRow, writeKnownRow, type KnownRow } from './row-store.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import type { Store } from './store.ts';

/** One store for one test. */
export interface StorePlace {
  /** Opens the store as a server does when it starts. */
  open(schema: Schema): Store | Promise<Store>;
  close(): Promise<void>;
}

const EVENTS = { onCaughtUp: () => undefined, onLost: (error: unknown) => expect.unreachable(String(error)) };

export function storeContract(name: string, makePlace: () => Promise<StorePlace>): void {
  let place: StorePlace;
  let store: Store;
  let database: OpenDatabase;

  const open = async (schema: Schema = TEST_SCHEMA, databaseId = 'household'): Promise<OpenDatabase> => {
    store = await place.open(schema);
    database = await store.open(databaseId, EVENTS);
    return database;
  };
  const close = async (): Promise<void> => {
    database.close();
    await store.close();
  };
  const rows = (sql: string): readonly (readonly CellValue[])[] => database.file.sql.all(sql);
  const run = async (sql: string, ...parameters: CellValue[]): Promise<void> =>
    database.commit(() => database.file.sql.run(sql, ...parameters));

  describe(`the ${name} store`, () => {
    beforeEach(async () => {
      place = await makePlace();
      await open();
    });
    afterEach(async () => {
      await close();
      await place.close();
    });

    it('keeps a reference that is NULL while its parent is deleted', async () => {
      const { file } = database;
      const memos = file.tableByName.get('memos') as StoredTable;
      const [accountId, keyBytes] = [columnIdOf('account_id'), encodeKey(['m'])];
      const nulledAt: Version = { ...NO_VERSION, watermark: 7 };
      const cells = new Map<number, Cell>(
        memos.columnIds.map((id) => [id, { value: id === accountId ? 'gone' : null, version: NO_VERSION }]),
      );
      await database.commit(() => {
        file.sql.run(`INSERT INTO memos (id) VALUES ('m')`);
        writeKnownRow(file, memos, keyBytes, {
          row: { inserted: NO_VERSION, revived: null, updated: new Map(), deleted: null, cells },
          bornAt: 0,
          waitsFor: null,
          nulled: new Map([[accountId, nulledAt]]),
        });
      });
      await close();
      await open();
      const known = readKnownRow(database.file, memos, ['m'], keyBytes);
      expect(known?.row.cells).toEqual(cells);
      expect(known?.nulled).toEqual(new Map([[accountId, nulledAt]]));
      await database.commit(() =>
        writeKnownRow(database.file, memos, keyBytes, { ...(known as KnownRow), nulled: new Map() }),
      );
      expect(rows('SELECT * FROM rockpool_nulled_reference')).toEqual([]);
    });

    it('keeps commits and the log epoch when it is closed and opened', async () => {
      await run(`INSERT INTO accounts (id, name, rank) VALUES ('a', 'Cash', 1), ('b', 'Bank', 2), ('c', 'Card', 3)`);
      await database.commit(() => {
        database.file.sql.run(`UPDATE accounts SET rank = NULL WHERE id = 'a'`);
        database.file.sql.run(`DELETE FROM accounts WHERE id = 'b'`);
      });
      const { id } = database.file.logEpoch;
      await close();
      await open();
      expect(rows('SELECT id, name, rank FROM accounts ORDER BY id')).toEqual([
        ['a', 'Cash', null],
        ['c', 'Card', 3n],
      ]);
      expect(database.file.logEpoch.id).toEqual(id);
    });

    it('keeps origins of re-created changesets until they expire', async () => {
      const day = 24 * 3600 * 1000;
      const origin = { siteId: new Uint8Array(16).fill(1), sequence: 2, hash: new Uint8Array(16).fill(3) };
      const isKnown = (): boolean => hasTakenEffect(database.file.sql, origin);
      expect(isKnown()).toBe(false);
      await database.commit(() => saveOrigin(database.file.sql, origin, 5));
      await close();
      await open();
      expect(isKnown()).toBe(true);
      expect(hasTakenEffect(database.file.sql, { ...origin, hash: new Uint8Array(16) })).toBe(false);
      await database.commit(() => pruneOrigins(database.file.sql, 365 * day));
      expect(isKnown()).toBe(true);
      await database.commit(() => pruneOrigins(database.file.sql, 366 * day));
      await close();
      await open();
      expect(isKnown()).toBe(false);
    });

    it('keeps nothing of a commit that throws, neither on disk nor in memory', async () => {
      const failing = async (): Promise<void> =>
        database.commit(() => {
          database.file.sql.run(`INSERT INTO accounts (id, name) VALUES ('a', 'Cash')`);
          database.file.logEpoch.renew(5);
          throw new Error('changed my mind');
        });
      const { id, startedAt } = database.file.logEpoch;
      await expect(failing()).rejects.toThrow('changed my mind');
      expect(rows('SELECT * FROM accounts')).toEqual([]);
      expect(database.file.logEpoch).toMatchObject({ id, startedAt });
      await run(`INSERT INTO accounts (id, name) VALUES ('b', 'Bank')`);
      expect(rows('SELECT id FROM accounts')).toEqual([['b']]);
    });

    it('caches nothing of a commit that throws: neither numbers of sites nor births of columns', async () => {
      const [first, second] = ['aa'.repeat(16), 'bb'.repeat(16)];
      const { sites, columnBirths } = database.file;
      const numbers: number[] = [];
      const create = (site: string): void => void numbers.push(sites.create(site, 'ann').number);
      const failing = async (): Promise<void> =>
        database.commit(() => {
          create(first);
          expect(sites.siteOf(numbers[0] as number)).toBe(first);
          for (const watermark of [1, 2]) columnBirths.record(watermark);
          throw new Error('changed my mind');
        });
      await expect(failing()).rejects.toThrow('changed my mind');
      await database.commit(() => {
        create(second);
        columnBirths.record(1);
      });
      expect(numbers[1]).toBe(numbers[0]);
      expect(sites.siteOf(numbers[1] as number)).toBe(second);
      expect(rows(`SELECT count(*) FROM rockpool_meta WHERE name = 'column_births'`)).toEqual([[1n]]);
    });

    it('returns the result of the body even if nothing has changed', async () => {
      expect(await database.commit(() => 7)).toBe(7);
      expect(await database.commit(() => database.file.sql.run(`UPDATE accounts SET rank = 1`))).toBeUndefined();
    });

    it('keeps every value exactly as SQLite stores it', async () => {
      const values: readonly CellValue[][] = [
        ['int', 9_223_372_036_854_775_807n, null, null, null],
        ['min', -9_223_372_036_854_775_808n, '', 0.1, Uint8Array.of()],
        ['real', 0n, 'NULL', 1.7976931348623157e308, Uint8Array.of(0, 255)],
        ['tiny', 0n, '{"a\\b"}', 5e-324, new TextEncoder().encode('text')],
        ['zero', 0n, '\u{feff}ü 🌊\n\t\'"', -0, Uint8Array.of(92, 120)],
        ['whole', 0n, 'null', 3, null],
      ].map(
        ([id, amount, note, weight, receipt]) =>
          [
            id,
            typeof amount === 'bigint' && amount > 999_999n ? -amount : amount,
            note,
            weight,
            receipt,
          ] as CellValue[],
      );
      await database.commit(() => {
        for (const row of values)
          database.file.sql.run(
            'INSERT INTO entries (id, amount, note, weight, receipt) VALUES (?, ?, ?, ?, ?)',
            ...row,
          );
        database.file.sql.run(
          `INSERT INTO rockpool_conflict VALUES ('c', 't', '[]', NULL, 'r', ?, ?, '', '', '', '', 0, 0, 0, NULL)`,
          1.5,
          'text',
        );
      });
      const select = 'SELECT id, amount, note, weight, receipt, typeof(weight) FROM entries ORDER BY rowid';
      const before = rows(select);
      await close();
      await open();
      expect(rows(`${select.replace('rowid', 'id')}`)).toEqual(
        [...before].sort((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1)),
      );
      expect(rows('SELECT lost_value, won_value FROM rockpool_conflict')).toEqual([[1.5, 'text']]);
    });

    it('commits rows that swap a unique value', async () => {
      await run(`INSERT INTO accounts (id, name) VALUES ('a', 'Cash'), ('b', 'Bank')`);
      await database.commit(() => {
        for (const [id, name] of [
          ['a', 'x'],
          ['b', 'Cash'],
          ['a', 'Bank'],
        ] as const)
          database.file.sql.run('UPDATE accounts SET name = ? WHERE id = ?', name, id);
      });
      expect(rows('SELECT id, name FROM accounts ORDER BY id')).toEqual([
        ['a', 'Bank'],
        ['b', 'Cash'],
      ]);
    });

    it('keeps the rows and log epochs of databases separate', async () => {
      await run(`INSERT INTO accounts (id, name) VALUES ('a', 'Cash')`);
      const other = await store.open('other', EVENTS);
      await other.commit(() => other.file.sql.run(`INSERT INTO accounts (id, name) VALUES ('a', 'Theirs')`));
      expect(rows('SELECT name FROM accounts')).toEqual([['Cash']]);
      expect(other.file.sql.all('SELECT name FROM accounts')).toEqual([['Theirs']]);
      expect(other.file.logEpoch.id).not.toEqual(database.file.logEpoch.id);
      other.close();
    });

    it('gives each database its own permanent identity', async () => {
      const identity = identityOf(database.file.sql);
      expect(identity).toHaveLength(16);
      await close();
      await open();
      expect(identityOf(database.file.sql)).toEqual(identity);
      await close();
      await open(TEST_SCHEMA, 'other');
      expect(identityOf(database.file.sql)).not.toEqual(identity);
    });

    it.each([false, true])(
      'gives a database without an identity the same identity as a copy from before its first opening (written to: %s)',
      async (hasSites) => {
        const forget = (): Promise<void> => run(`DELETE FROM rockpool_meta WHERE name LIKE 'identity%'`);
        if (hasSites)
          await run(`INSERT INTO rockpool_site VALUES (1, x'${'01'.repeat(16)}', 'ann', 0, x'', 0, 0, 0, 0)`);
        await forget();
        await close();
        await open();
        const identity = identityOf(database.file.sql);
        expect(identity).toHaveLength(16);
        // More devices have written since then, and the log was restored once.
        if (hasSites) await database.commit(() => database.file.logEpoch.renew(0));
        if (hasSites)
          await run(`INSERT INTO rockpool_site VALUES (2, x'${'00'.repeat(15)}02', 'ann', 0, x'', 0, 0, 0, 0)`);
        await forget();
        await close();
        await open();
        expect(identityOf(database.file.sql)).toEqual(identity);
      },
    );

    it('rejects a database that was copied or renamed by hand', async () => {
      await run(`UPDATE rockpool_meta SET value = 'another' WHERE name = 'identity_of'`);
      await close();
      store = await place.open(TEST_SCHEMA);
      await expect((async () => store.open('household', EVENTS))()).rejects.toMatchObject({
        code: 'database-unavailable',
        fields: { problem: expect.stringContaining('a different database') as string },
      });
      database = await store.open('third', EVENTS);
    });

    it('has a file that other connections can read while it is open', async () => {
      await run(`INSERT INTO accounts (id, name) VALUES ('a', 'Cash')`);
      const beside = new SqliteFile(store.pathOf('household'), { readOnly: true });
      expect(beside.all('SELECT name FROM accounts')).toEqual([['Cash']]);
      beside.close();
    });

    it('migrates to an additive schema, with defaults for existing rows, and serves the newer one if an older one is given', async () => {
      await run(`INSERT INTO accounts (id, name) VALUES ('a', 'Cash')`);
      const [accounts, ...others] = TEST_TABLES as [(typeof TEST_TABLES)[number], ...typeof TEST_TABLES];
      const added = [
        column('kind', 'text', { notNull: true, defaultSql: `'it''s'` }),
        column('share', 'real', { notNull: true, defaultSql: '1' }),
        column('memo', 'text'),
      ];
      const wider = buildSchema([
        { ...accounts, columns: [...accounts.columns, ...added] },
        table('extras', [column('id', 'text', { notNull: true }), column('price', 'numeric')]),
        ...others,
      ]);
      await close();
      await open(wider);
      expect(rows('SELECT id, name, kind, share, memo FROM accounts')).toEqual([['a', 'Cash', `it's`, 1, null]]);
      await run(`INSERT INTO extras VALUES ('x', '12.50'), ('y', 3.0), ('z', 1e300)`);
      await close();
      await open(wider);
      expect(rows('SELECT price FROM extras ORDER BY id')).toEqual([[12.5], [3n], [1e300]]);
      await close();
      // A rollback: the newer tables are kept, and accept rows without what the older schema lacks.
      await open(TEST_SCHEMA);
      expect(database.file.schema.hash).toBe(wider.hash);
      await run(`INSERT INTO accounts (id, name) VALUES ('b', 'Bank')`);
      await close();
      await open(wider);
      expect(rows(`SELECT kind, share, memo FROM accounts WHERE id = 'b'`)).toEqual([[`it's`, 1, null]]);
    });

    it('rejects a schema that neither adds to the stored one nor is part of it', async () => {
      await run(`INSERT INTO accounts (id, name) VALUES ('a', 'Cash')`);
      const [accounts, ...others] = TEST_TABLES as [(typeof TEST_TABLES)[number], ...typeof TEST_TABLES];
      await close();
      const other = buildSchema([{ ...accounts, uniques: [] }, ...others]);
      await expect((async () => (await place.open(other)).open('household', EVENTS))()).rejects.toMatchObject({
        code: 'schema-incompatible',
      });
      await open();
    });
  });
}
