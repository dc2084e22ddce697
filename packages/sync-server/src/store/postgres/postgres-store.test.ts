import { columnIdOf, encodeKey, NO_VERSION } from '@rockpool/shared';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
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
import { temporaryFolder } from '../../../../../tests/kit/temporary-folder.ts';

const postgres = postgresUnderTest();

storeContract('PostgreSQL', async () => {
  const folder = temporaryFolder();
  const { url } = await postgres.server.createDatabase();
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

describe('several instances on one PostgreSQL', () => {
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
    ({ url, name } = await postgres.server.createDatabase());
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

  it('decide one after the other, each on top of the commits of the others', async () => {
    const all = [await start(), await start(), await start()];
    await Promise.all(all.flatMap((instance, i) => Array.from({ length: 20 }, (_, n) => add(instance, `${i}-${n}`))));
    await Promise.all(all.map(async ({ database }) => database.catchUp()));
    const names = namesAt(all[0] as Instance);
    expect(names).toHaveLength(60);
    for (const instance of all) expect(namesAt(instance)).toEqual(names);
    expect(
      await postgres.server.query(name, 'SELECT count(*), min(head), max(head) FROM rockpool.rockpool_commit'),
    ).toEqual([['61', '1', '61']]);
    expect(await postgres.server.query(name, 'SELECT count(*) FROM rockpool.accounts')).toEqual([['60']]);
  });

  it('decide while no transaction is open, however long it takes', async () => {
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

  it('decide a long commit again on what others have committed meanwhile, and are not outrun a second time', async () => {
    const [a, b] = [await start(), await start()];
    // b does not hear of a's commit, and decides on an older state.
    bus.publish = () => undefined;
    await add(a, 'first');
    const seen: unknown[][] = [];
    let others: Promise<void> = Promise.resolve();
    await b.database.commit(() => {
      seen.push(namesAt(b));
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 150); // a long decision
      // While b decides for the second time, a wants to commit too.
      if (seen.length === 2) others = add(a, 'third');
      b.database.file.sql.run('INSERT INTO accounts (id, name) VALUES (?, ?)', 'second', 'second');
    });
    expect(seen).toEqual([[], ['first']]);
    await others;
    expect(namesAt(a)).toEqual(['first', 'second', 'third']);
  });

  it('commit although an instance died with a lease, once it has expired', async () => {
    const instance = await start();
    await postgres.server.query(
      name,
      `UPDATE rockpool.rockpool_database SET leased_by = 'dead', leased_until = clock_timestamp() + interval '500 ms'`,
    );
    await add(instance, 'x');
    expect(namesAt(instance)).toEqual(['x']);
    expect(await postgres.server.query(name, 'SELECT leased_by, head FROM rockpool.rockpool_database')).toEqual([
      [null, '2'],
    ]);
  });

  it('write a commit of many rows in several statements of one transaction', { timeout: 60_000 }, async () => {
    const [a, b] = [await start(), await start()];
    const many = 25_000;
    const insert = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${many}) INSERT INTO accounts (id, name) SELECT 'id' || i, 'name' || i FROM n`;
    await a.database.commit(() => a.database.file.sql.exec(insert));
    await a.database.commit(() => a.database.file.sql.exec("DELETE FROM accounts WHERE id <> 'id7'"));
    await b.database.catchUp();
    expect(namesAt(b)).toEqual(['name7']);
    expect(await postgres.server.query(name, 'SELECT id FROM rockpool.accounts')).toEqual([['id7']]);
  });

  it('number commits in the order in which they become visible', async () => {
    const all = [await start(), await start()];
    const seen: number[][] = [];
    let isOver = false;
    const watching = (async () => {
      while (!isOver)
        seen.push(
          (await postgres.server.query(name, 'SELECT head FROM rockpool.rockpool_commit ORDER BY head')).map(([head]) =>
            Number(head),
          ),
        );
    })();
    await Promise.all(all.flatMap((instance, i) => Array.from({ length: 25 }, (_, n) => add(instance, `${i}-${n}`))));
    isOver = true;
    await watching;
    // A number that becomes visible after a higher one would have left a gap meanwhile.
    for (const heads of seen) expect(heads).toEqual(heads.map((_, i) => i + 1));
  });

  it('learn of commits by the bus, and by polling if the bus lost a message', async () => {
    const [a, b] = [await start(), await start()];
    await add(a, 'announced');
    while (b.followed < 1) await new Promise((resolve) => setImmediate(resolve));
    expect(namesAt(b)).toEqual(['announced']);
    bus.publish = () => undefined;
    await add(a, 'not announced');
    while (b.followed < 2) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(namesAt(b)).toEqual(['announced', 'not announced']);
  });

  it('share one catch-up among callers that ask before it starts, and see every commit from before the call', async () => {
    const [a, b] = [await start(), await start()];
    bus.publish = () => undefined;
    await add(a, 'before');
    const looks = vi.spyOn(b.connections, 'transaction');
    await Promise.all([b.database.catchUp(), b.database.catchUp(), b.database.catchUp()]);
    expect(looks).toHaveBeenCalledTimes(1);
    expect(namesAt(b)).toEqual(['before']);
    await add(a, 'after');
    await b.database.catchUp();
    expect(namesAt(b)).toEqual(['after', 'before']);
  });

  it('create the same new database only once', async () => {
    const [a, b] = await Promise.all([start(), start()]);
    expect(a.database.file.logEpoch.id).toEqual(b.database.file.logEpoch.id);
  });

  it('find a commit whose answer was lost', async () => {
    const a = await start();
    await add(a, 'before');
    // The connection breaks right after PostgreSQL commits.
    const transaction = a.connections.transaction.bind(a.connections);
    a.connections.transaction = async (...question) => {
      a.connections.transaction = transaction;
      await transaction(...question);
      throw new Error('the connection was lost');
    };
    await expect(add(a, 'unanswered')).rejects.toThrow('the connection was lost');
    expect(namesAt(a)).toEqual(['before']);
    await add(a, 'after');
    expect(namesAt(a)).toEqual(['after', 'before', 'unanswered']);
  });

  it('keep nothing of a commit whose connection ends in the middle, and continue', async () => {
    const a = await start();
    const transaction = a.connections.transaction.bind(a.connections);
    a.connections.transaction = (databaseId, mode, body) =>
      transaction(databaseId, mode, async (connection) => {
        a.connections.transaction = transaction;
        const written = await body(connection);
        await postgres.server.query(
          name,
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}' AND pid <> pg_backend_pid()`,
        );
        return written;
      });
    await expect(add(a, 'lost')).rejects.toMatchObject({ code: 'database-unavailable' });
    await add(a, 'after');
    expect(namesAt(a)).toEqual(['after']);
    expect(await postgres.server.query(name, 'SELECT name FROM rockpool.accounts')).toEqual([['after']]);
  });

  it('prune commits by age, and keep the one from which others follow', async () => {
    const [one, other] = [await start(), await start()];
    for (let n = 0; n < 5; n++) await add(one, `old-${n}`);
    await other.database.catchUp();
    await postgres.server.query(
      name,
      `UPDATE rockpool.rockpool_commit SET committed_at = now() - interval '61 minutes'`,
    );
    await add(one, 'new');
    // The last of the old commits, which is the position of the other instance.
    expect(await postgres.server.query(name, 'SELECT head FROM rockpool.rockpool_commit ORDER BY head')).toEqual([
      ['6'],
      ['7'],
    ]);
    await other.database.catchUp();
    expect(namesAt(other)).toEqual(namesAt(one));
    expect(other.lost).toEqual([]);
  });

  it('reload a database when they cannot follow, or when its rows differ from the working copy', async () => {
    const [a, b] = [await start(), await start()];
    bus.publish = () => undefined;
    await add(a, 'x');
    await add(a, 'y');
    await postgres.server.query(name, 'DELETE FROM rockpool.rockpool_commit WHERE head < 3');
    await expect(add(b, 'z')).rejects.toMatchObject({ code: 'database-unavailable' });
    while (b.lost.length === 0) await new Promise((resolve) => setImmediate(resolve));
    b.database.close();
    await openAt(b);
    await add(b, 'z');
    expect(namesAt(b)).toEqual(['x', 'y', 'z']);
    await postgres.server.query(name, `DELETE FROM rockpool.accounts WHERE id = 'x'`);
    await expect(
      (async () => b.database.commit(() => b.database.file.sql.run(`UPDATE accounts SET rank = 1 WHERE id = 'x'`)))(),
    ).rejects.toMatchObject({ code: 'storage-corrupt' });
  });

  it('migrate tables of the storage format before origins', async () => {
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

  it('migrate tables of the storage format before NULL references, and share those references', async () => {
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
