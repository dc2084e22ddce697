import { RockpoolError, toRockpoolError } from '@rockpool/shared';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { InProcessBus } from '../../bus/in-process-bus.ts';
import { TEST_SCHEMA } from '../../../testing/test-schema.ts';
import { temporaryFolder } from '../../../../../tests/kit/temporary-folder.ts';
import type { Connections } from '../../postgres/connection.ts';
import type { OpenDatabase } from '../durability.ts';
import { PostgresStore } from './postgres-store.ts';

/** An empty PostgreSQL database for one test. */
export interface InstancesPlace {
  /** Returns the connections of another instance. */
  connect(): Connections;
  /** The heads of the kept commits, in order. */
  heads(): Promise<readonly number[]>;
  /** The names in the table of accounts, in order. */
  names(): Promise<readonly string[]>;
  leaseTo(instanceId: string, forMs: number): Promise<void>;
  leaseHolder(): Promise<string | null>;
  /** Makes all commits older. */
  ageCommits(byMs: number): Promise<void>;
  forgetCommitsBefore(head: number): Promise<void>;
  /** Reverts the commits after this one, as a restore of an older state does. */
  returnTo(head: number): Promise<void>;
  deleteAccount(id: string): Promise<void>;
  /** Ends all connections, as an operator or a restart does. */
  endConnections(): Promise<void>;
}

const LOCK_NOT_AVAILABLE = '55P03';

interface Instance {
  readonly store: PostgresStore;
  readonly connections: Connections;
  database: OpenDatabase;
  lost: unknown[];
}

/**
 * The guarantees of PostgreSQL that the store relies on: the order of commits, and which commits each of them sees. The
 * real PostgreSQL and the model of the simulation pass it.
 */
export function instancesContract(name: string, makePlace: () => Promise<InstancesPlace>): void {
  let bus: InProcessBus;
  let place: InstancesPlace;
  let instances: Instance[];

  async function start(onError: (error: unknown) => void = () => undefined): Promise<Instance> {
    const connections = place.connect();
    const store = new PostgresStore({
      connections,
      bus,
      dataDir: temporaryFolder(),
      schema: TEST_SCHEMA,
      measureCommit: () => undefined,
      onError,
    });
    const instance: Instance = { store, connections, database: null as unknown as OpenDatabase, lost: [] };
    instances.push(instance);
    await openAt(instance);
    return instance;
  }
  async function openAt(instance: Instance): Promise<void> {
    instance.database = await instance.store.open('household', {
      onCaughtUp: () => undefined,
      onLost: (error) => void instance.lost.push(error),
    });
  }
  const add = async ({ database }: Instance, id: string): Promise<void> =>
    database.commit(() => database.file.sql.run('INSERT INTO accounts (id, name) VALUES (?, ?)', id, id));
  /** An instance may learn that an idle connection has ended only when it uses it; each such request fails. */
  const addOnNewConnection = async (instance: Instance, id: string): Promise<void> => {
    for (;;) {
      try {
        return await add(instance, id);
      } catch (thrown) {
        if (toRockpoolError(thrown).code !== 'database-unavailable') throw thrown;
      }
    }
  };
  const namesAt = ({ database }: Instance): unknown[] =>
    database.file.sql.all('SELECT name FROM accounts ORDER BY name').flat();

  describe(`several instances on one ${name}`, () => {
    beforeEach(async () => {
      place = await makePlace();
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

    it('decide one after the other, each based on the commits of the others', async () => {
      const all = [await start(), await start(), await start()];
      await Promise.all(all.flatMap((instance, i) => Array.from({ length: 20 }, (_, n) => add(instance, `${i}-${n}`))));
      await Promise.all(all.map(async ({ database }) => database.catchUp()));
      const names = namesAt(all[0] as Instance);
      expect(names).toHaveLength(60);
      for (const instance of all) expect(namesAt(instance)).toEqual(names);
      expect(await place.heads()).toEqual(Array.from({ length: 61 }, (_, i) => i + 1));
      expect(await place.names()).toEqual(names);
    });

    it('decide a long commit again after others have committed meanwhile, and are not overtaken a second time', async () => {
      const [a, b] = [await start(), await start()];
      // b receives no message about a's commit, and decides on an older state.
      bus.publish = () => undefined;
      await add(a, 'first');
      const seen: unknown[][] = [];
      let others: Promise<void> = Promise.resolve();
      await b.database.commit(() => {
        seen.push(namesAt(b));
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 150); // a long decision
        // While b decides for the second time, a is about to commit too.
        if (seen.length === 2) others = add(a, 'third');
        b.database.file.sql.run('INSERT INTO accounts (id, name) VALUES (?, ?)', 'second', 'second');
      });
      expect(seen).toEqual([[], ['first']]);
      await others;
      expect(namesAt(a)).toEqual(['first', 'second', 'third']);
    });

    it('commit after an instance died with a lease, once the lease has expired', async () => {
      const instance = await start();
      await place.leaseTo('dead', 500);
      await add(instance, 'x');
      expect(namesAt(instance)).toEqual(['x']);
      expect(await place.leaseHolder()).toBeNull();
      expect(await place.heads()).toEqual([1, 2]);
    });

    it('wait and report it while another one holds the lock for longer than a statement may wait', async () => {
      const errors: unknown[] = [];
      const instance = await start((error) => void errors.push(error));
      const transaction = instance.connections.transaction.bind(instance.connections);
      let timeouts = 2;
      instance.connections.transaction = (databaseId, mode, body) =>
        mode === 'READ WRITE' && timeouts-- > 0
          ? Promise.reject(
              new RockpoolError('database-unavailable', { problem: 'PostgreSQL', systemCode: LOCK_NOT_AVAILABLE }),
            )
          : transaction(databaseId, mode, body);
      await add(instance, 'x');
      expect(namesAt(instance)).toEqual(['x']);
      expect(await place.leaseHolder()).toBeNull();
      const waiting = { fields: { problem: 'a commit waits for a long transaction of another instance' } };
      expect(errors).toMatchObject([waiting, waiting]);
    });

    it('wait for a lease of another one however long their own decision has taken', async () => {
      const instance = await start();
      await place.leaseTo('other', 500);
      const now = performance.now.bind(performance);
      let laterMs = 0;
      vi.spyOn(performance, 'now').mockImplementation(() => now() + laterMs);
      onTestFinished(() => void vi.restoreAllMocks());
      const { database } = instance;
      await database.commit(() => {
        laterMs += 140_000;
        database.file.sql.run(`INSERT INTO accounts (id, name) VALUES ('x', 'x')`);
      });
      expect(namesAt(instance)).toEqual(['x']);
    });

    it('write a commit of many rows in several statements of one transaction', async () => {
      const [a, b] = [await start(), await start()];
      const many = 25_000;
      const insert = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${many}) INSERT INTO accounts (id, name) SELECT 'id' || i, 'name' || i FROM n`;
      await a.database.commit(() => a.database.file.sql.exec(insert));
      await a.database.commit(() => a.database.file.sql.exec("DELETE FROM accounts WHERE id <> 'id7'"));
      await b.database.catchUp();
      expect(namesAt(b)).toEqual(['name7']);
      expect(await place.names()).toEqual(['name7']);
    });

    it('number commits in the order in which they become visible', async () => {
      const all = [await start(), await start()];
      const seen: (readonly number[])[] = [];
      let isOver = false;
      const watching = (async () => {
        while (!isOver) seen.push(await place.heads());
      })();
      await Promise.all(all.flatMap((instance, i) => Array.from({ length: 25 }, (_, n) => add(instance, `${i}-${n}`))));
      isOver = true;
      await watching;
      // If a number became visible after a higher one, the heads seen in between would have a gap.
      for (const heads of seen) expect(heads).toEqual(heads.map((_, i) => i + 1));
    });

    it('share one catch-up among callers that ask before it starts, and see every commit from before the call', async () => {
      // Stops the polls of the store, which would also catch up.
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
      onTestFinished(() => void vi.useRealTimers());
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

    it('load a state of one moment while others commit', async () => {
      const a = await start();
      await add(a, 'before');
      const b = await start();
      const { transaction } = b.connections;
      // Instance a commits between the statement that reads the head and those that read the rows.
      b.connections.transaction = (databaseId, mode, body) =>
        transaction.call(b.connections, databaseId, mode, async (connection) => {
          b.connections.transaction = transaction;
          let isBefore = true;
          return body({
            query: async (sql, parameters) => {
              const answer = await connection.query(sql, parameters);
              if (isBefore && sql.includes('head')) {
                isBefore = false;
                await add(a, 'meanwhile');
              }
              return answer;
            },
          });
        }) as never;
      b.database.close();
      await openAt(b);
      expect(namesAt(b)).toEqual(['before']);
      await b.database.catchUp();
      expect(namesAt(b)).toEqual(['before', 'meanwhile']);
      expect(b.lost).toEqual([]);
    });

    it('find a commit whose response was lost', async () => {
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
      const [a, b] = [await start(), await start()];
      const transaction = a.connections.transaction.bind(a.connections);
      a.connections.transaction = (databaseId, mode, body) =>
        transaction(databaseId, mode, async (connection) => {
          a.connections.transaction = transaction;
          const written = await body(connection);
          await place.endConnections();
          return written;
        });
      await expect(add(a, 'lost')).rejects.toMatchObject({ code: 'database-unavailable' });
      // The lock has ended with the connection.
      await addOnNewConnection(b, 'other');
      await addOnNewConnection(a, 'after');
      expect(namesAt(a)).toEqual(['after', 'other']);
      expect(await place.names()).toEqual(['after', 'other']);
    });

    it('prune commits by age, and keep the commit from which others follow', async () => {
      const [one, other] = [await start(), await start()];
      for (let n = 0; n < 5; n++) await add(one, `old-${n}`);
      await other.database.catchUp();
      await place.ageCommits(61 * 60_000);
      await add(one, 'new');
      // The last of the old commits, which is the position of the other instance.
      expect(await place.heads()).toEqual([6, 7]);
      await other.database.catchUp();
      expect(namesAt(other)).toEqual(namesAt(one));
      expect(other.lost).toEqual([]);
    });

    it('notice at a poll that an older state was restored, even if its head has reached their position again', async () => {
      const [a, b] = [await start(), await start()];
      bus.publish = () => undefined;
      await add(a, 'x');
      await add(a, 'y');
      await b.database.catchUp();
      await place.returnTo(2);
      while (a.lost.length === 0 || b.lost.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
      for (const instance of [a, b]) {
        instance.database.close();
        await openAt(instance);
      }
      await add(a, 'z');
      await b.database.catchUp();
      await place.returnTo(2);
      a.database.close();
      await openAt(a);
      await add(a, 'of the same number');
      while (b.lost.length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
      b.database.close();
      await openAt(b);
      expect(namesAt(b)).toEqual(['of the same number', 'x']);
    });

    it('reload a database if they cannot follow, or if its rows differ from the working copy', async () => {
      const [a, b] = [await start(), await start()];
      bus.publish = () => undefined;
      await add(a, 'x');
      await add(a, 'y');
      await place.forgetCommitsBefore(3);
      await expect(add(b, 'z')).rejects.toMatchObject({ code: 'database-unavailable' });
      while (b.lost.length === 0) await new Promise((resolve) => setImmediate(resolve));
      b.database.close();
      await openAt(b);
      await add(b, 'z');
      expect(namesAt(b)).toEqual(['x', 'y', 'z']);
      await place.deleteAccount('x');
      await expect(
        (async () => b.database.commit(() => b.database.file.sql.run(`UPDATE accounts SET rank = 1 WHERE id = 'x'`)))(),
      ).rejects.toMatchObject({ code: 'storage-corrupt' });
    });
  });
}
