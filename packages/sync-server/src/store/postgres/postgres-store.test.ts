import { columnIdOf, encodeKey, NO_VERSION } from '@rockpool/shared';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InProcessBus } from '../../bus/in-process-bus.ts';
import { postgresUnderTest } from '../../../testing/postgres-under-test.ts';
import { TEST_SCHEMA } from '../../../testing/test-schema.ts';
import { storeContract } from '../store.contract.ts';
import { hasTakenEffect, saveOrigin } from '../../log/origins.ts';
import type { OpenDatabase } from '../durability.ts';
import type { StoredTable } from '../../sqlite/stored-table.ts';
import { keepReferences, keysWithReference } from '../nulled-references.ts';
import { Connections } from '../../postgres/connection.ts';
import { PostgresStore } from './postgres-store.ts';
import { PART_BYTES } from './row-parts.ts';
import { temporaryFolder } from '../../../../../tests/kit/temporary-folder.ts';

const postgres = postgresUnderTest();

// instances-contract.verify.test.ts runs the contracts of instances and transactions.

storeContract('PostgreSQL', async () => {
  const folder = temporaryFolder();
  const { url } = await postgres.server.createPreparedDatabase();
  const connections = new Connections(url);
  return {
    open: (schema) =>
      new PostgresStore({
        connections,
        bus: new InProcessBus(),
        dataDir: folder,
        schema,
        measureCommit: () => undefined,
        onError: (error) => expect.unreachable(String(error)),
      }),
    close: async () => {
      await connections.close();
    },
  };
});

describe('several instances on PostgreSQL', () => {
  interface Instance {
    readonly store: PostgresStore;
    readonly connections: Connections;
    database: OpenDatabase;
    followed: number;
    lost: unknown[];
  }
  let bus: InProcessBus;
  let url: string;
  let name: string;
  let instances: Instance[];

  async function start(): Promise<Instance> {
    const folder = temporaryFolder();
    const connections = new Connections(url);
    const store = new PostgresStore({
      connections,
      bus,
      dataDir: folder,
      schema: TEST_SCHEMA,
      measureCommit: () => undefined,
      onError: () => undefined,
    });
    const instance: Instance = {
      store,
      connections,
      database: null as unknown as OpenDatabase,
      followed: 0,
      lost: [],
    };
    instances.push(instance);
    await openAt(instance);
    return instance;
  }
  async function openAt(instance: Instance): Promise<void> {
    instance.database = await instance.store.open('household', {
      onCaughtUp: () => void instance.followed++,
      onLost: (error) => void instance.lost.push(error),
    });
  }
  const add = async ({ database }: Instance, id: string): Promise<void> =>
    database.commit(() => database.file.sql.run('INSERT INTO accounts (id, name) VALUES (?, ?)', id, id));
  const namesAt = ({ database }: Instance): unknown[] =>
    database.file.sql.all('SELECT name FROM accounts ORDER BY name').flat();

  beforeEach(async () => {
    ({ url, name } = await postgres.server.createPreparedDatabase());
    bus = new InProcessBus();
    instances = [];
  });
  afterEach(async () => {
    for (const { store, connections, database } of instances) {
      database.close();
      await store.close();
      await connections.close();
    }
  });

  it('decide while no transaction is open, however long the decision takes', async () => {
    const instance = await start();
    let open = 0;
    const { connections } = instance;
    const transaction = connections.transaction.bind(connections);
    connections.transaction = async (...asked: Parameters<typeof transaction>) => {
      open++;
      return transaction(...asked).finally(() => open--) as never;
    };
    const openWhenDeciding: number[] = [];
    const { database } = instance;
    await database.commit(() => {
      openWhenDeciding.push(open);
      database.file.sql.run('INSERT INTO accounts (id, name) VALUES (?, ?)', 'a', 'a');
    });
    expect(openWhenDeciding).toEqual([0]);
  });

  it('are notified of commits by the bus, and by polling if the bus lost a message', async () => {
    const [a, b] = [await start(), await start()];
    await add(a, 'announced');
    while (b.followed < 1) await new Promise((resolve) => setImmediate(resolve));
    expect(namesAt(b)).toEqual(['announced']);
    bus.publish = () => undefined;
    await add(a, 'not announced');
    while (b.followed < 2) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(namesAt(b)).toEqual(['announced', 'not announced']);
  });

  it('keep the last 2,000 commits for each other', async () => {
    const a = await start();
    await add(a, 'first');
    const heads = async (): Promise<number[]> =>
      (await postgres.server.query(name, 'SELECT head FROM rockpool.rockpool_commit ORDER BY head')).map(([head]) =>
        Number(head),
      );
    const last = (await heads()).at(-1) as number;
    await postgres.server.query(
      name,
      `INSERT INTO rockpool.rockpool_commit (database_id, head, commit_id, changeset)
         SELECT 'household', ${last} - before, 'x', '' FROM unnest(ARRAY[1998, 1999, 2000]) AS before`,
    );
    await add(a, 'second');
    expect((await heads()).filter((head) => head < 0)).toEqual([last - 1998]);
  });

  it('decide one after the other even if a different isolation level is the default', async () => {
    await postgres.server.query(name, `ALTER DATABASE ${name} SET default_transaction_isolation = 'repeatable read'`);
    const all = [await start(), await start()];
    await Promise.all(all.flatMap((instance, i) => Array.from({ length: 10 }, (_, n) => add(instance, `${i}-${n}`))));
    expect(await postgres.server.query(name, 'SELECT count(*)::int FROM rockpool.accounts')).toEqual([[20]]);
  });

  it('read and write large rows in smaller parts', async () => {
    const [rows, rowBytes] = [120, 200_000];
    const a = await start();
    await a.database.commit(() =>
      a.database.file.sql.exec(
        `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows}) INSERT INTO entries (id, amount, note) SELECT 'id' || i, i, printf('%.${rowBytes}c', 'x') FROM n`,
      ),
    );
    const b = await start();
    b.database.close();
    const fetches: number[] = [];
    const writes: number[] = [];
    const { transaction } = b.connections;
    b.connections.transaction = (databaseId, mode, body) =>
      transaction.call(b.connections, databaseId, mode, (connection) =>
        body({
          query: async (sql, parameters) => {
            const answer = await connection.query(sql, parameters);
            if (sql.startsWith('FETCH')) fetches.push(answer.length);
            if (mode === 'READ WRITE') writes.push(String(parameters ?? '').length);
            return answer;
          },
        }),
      ) as never;
    await openAt(b);
    expect(b.database.file.sql.get('SELECT count(*) FROM entries')).toEqual([BigInt(rows)]);
    expect(Math.max(...fetches)).toBe(100);
    await b.store.fill('copy', ({ name: table, columns }) =>
      b.database.file.sql.rows(`SELECT ${columns.map((column) => `"${column.name}"`).join()} FROM "${table}"`),
    );
    expect(Math.max(...writes)).toBeLessThan(1.1 * PART_BYTES);
    expect(writes.reduce((sum, length) => sum + length)).toBeGreaterThan(rows * rowBytes);
  });

  it('migrate tables from the storage format without origins', async () => {
    const a = await start();
    await add(a, 'before');
    await postgres.server.query(
      name,
      'DROP TABLE rockpool.rockpool_history; DROP TABLE rockpool.rockpool_origin; DROP TABLE rockpool.rockpool_nulled_reference; UPDATE rockpool.rockpool_store SET storage_format = 8',
    );
    const b = await start();
    expect(namesAt(b)).toEqual(['before']);
    const origin = { siteId: new Uint8Array(16).fill(1), sequence: 2, hash: new Uint8Array(16).fill(3) };
    await b.database.commit(() => saveOrigin(b.database.file.sql, origin, 5));
    expect(
      await postgres.server.query(
        name,
        'SELECT storage_format, sequence FROM rockpool.rockpool_store, rockpool.rockpool_origin',
      ),
    ).toEqual([[11, '2']]);
    await a.database.catchUp();
    expect(hasTakenEffect(a.database.file.sql, origin)).toBe(true);
    expect(await b.connections.query('SELECT * FROM rockpool.rockpool_origin')).toEqual([]);
  });

  it('migrate tables from a storage format that has no nulled references, and then share such references', async () => {
    const a = await start();
    await add(a, 'x');
    await postgres.server.query(
      name,
      'DROP TABLE rockpool.rockpool_history; DROP TABLE rockpool.rockpool_nulled_reference; UPDATE rockpool.rockpool_store SET storage_format = 9',
    );
    const b = await start();
    const file = ({ database }: typeof b): typeof b.database.file => database.file;
    await b.database.commit(() => {
      const table = file(b).tableByName.get('memos') as StoredTable;
      const cells = new Map([[columnIdOf('account_id'), { value: 'gone', version: NO_VERSION }]]);
      keepReferences(file(b), table, encodeKey(['m']), cells, new Map([[columnIdOf('account_id'), NO_VERSION]]));
    });
    await a.database.catchUp();
    const memos = file(a).tableByName.get('memos') as StoredTable;
    expect(keysWithReference(file(a), memos, columnIdOf('account_id'), 'gone')).toEqual([['m']]);
    expect(
      await postgres.server.query(
        name,
        'SELECT storage_format, nulled_at FROM rockpool.rockpool_store, rockpool.rockpool_nulled_reference',
      ),
    ).toEqual([[11, '0']]);
  });

  it('learn that a database has origins when another instance saves the first one', async () => {
    const [a, b] = [await start(), await start()];
    const haveOrigins = (): boolean[] => [a, b].map(({ database }) => database.file.anyOrigins.exist);
    expect(haveOrigins()).toEqual([false, false]);
    const { file } = a.database;
    await a.database.commit(() => {
      saveOrigin(file.sql, { siteId: new Uint8Array(16).fill(1), sequence: 2, hash: new Uint8Array(16).fill(3) }, 5);
      file.anyOrigins.forget();
    });
    await b.database.catchUp();
    expect(haveOrigins()).toEqual([true, true]);
  });

  it('see one database at a time, whatever the statement selects', async () => {
    const a = await start();
    await add(a, 'mine');
    const other = await a.store.open('other', { onCaughtUp: () => undefined, onLost: () => undefined });
    await other.commit(() => other.file.sql.run(`INSERT INTO accounts (id, name) VALUES ('theirs', 'theirs')`));
    other.close();
    const visible = (databaseId: string): Promise<unknown> =>
      a.connections.transaction(databaseId, 'READ WRITE', async (connection) => ({
        commit: false,
        result: await connection.query('SELECT database_id FROM rockpool.accounts'),
      }));
    expect(await visible('household')).toEqual([['household']]);
    expect(await visible('nobody')).toEqual([]);
    expect(await a.connections.query('SELECT * FROM rockpool.accounts')).toEqual([]);
    expect(await postgres.server.query(name, 'SELECT count(*) FROM rockpool.accounts')).toEqual([['2']]);
  });
});
