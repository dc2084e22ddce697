import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InProcessBus } from '../../bus/in-process-bus.ts';
import { TEST_SCHEMA } from '../../../testing/test-schema.ts';
import { temporaryFolder } from '../../../../../tests/kit/temporary-folder.ts';
import type { Connection, Connections } from '../../postgres/connection.ts';
import { PostgresStore } from './postgres-store.ts';

const ID = 'household';

const HEAD_SQL = 'SELECT head, commit_id FROM rockpool.rockpool_database WHERE id = $1';

/** A commit without rows, as write-changes.ts writes it. */
const ADVANCE_SQL = `WITH moved AS (UPDATE rockpool.rockpool_database SET head = $2, commit_id = $3 WHERE id = $1::text),
logged AS (INSERT INTO rockpool.rockpool_commit (database_id, head, commit_id, changeset) VALUES ($1::text, $2, $3, $4))
SELECT 0`;

/** An open transaction whose statements the test runs one by one. */
class Steps {
  private readonly connection: Promise<Connection>;
  private readonly done: Promise<void>;
  private finish: (commit: boolean) => void = () => undefined;

  constructor(connections: Connections, mode: 'READ WRITE' | 'REPEATABLE READ, READ ONLY' = 'READ WRITE') {
    const ending = new Promise<boolean>((resolve) => (this.finish = resolve));
    let opened: (connection: Connection) => void = () => undefined;
    this.connection = new Promise((resolve) => (opened = resolve));
    this.done = connections.transaction(ID, mode, async (connection) => {
      opened(connection);
      return { commit: await ending, result: undefined };
    });
  }

  async lockHead(): Promise<number> {
    return Number((await (await this.connection).query(`${HEAD_SQL} FOR UPDATE`, [ID]))[0]?.[0]);
  }

  async readHead(): Promise<number> {
    return Number((await (await this.connection).query(HEAD_SQL, [ID]))[0]?.[0]);
  }

  async advanceTo(head: number): Promise<void> {
    const commitId = new Uint8Array(16).fill(head);
    await (await this.connection).query(ADVANCE_SQL, [ID, head, commitId, new Uint8Array(1)]);
  }

  async end(commit: boolean): Promise<void> {
    this.finish(commit);
    await this.done;
  }
}

export interface TransactionsPlace {
  readonly connections: Connections;
  /** The number of transactions that wait for a lock on a row. */
  countWaiting(): Promise<number>;
}

/**
 * How transactions of the store wait for each other, and which commits they see. `makePlace` opens an empty PostgreSQL.
 */
export function transactionsContract(name: string, makePlace: () => Promise<TransactionsPlace>): void {
  let connections: Connections;
  let countWaiting: TransactionsPlace['countWaiting'];
  let store: PostgresStore;
  /**
   * Resolves once this number of transactions waits for the lock. A statement that was sent may not have arrived yet.
   */
  const waiting = async (count: number): Promise<void> => {
    while ((await countWaiting()) < count);
  };
  const begin = (mode?: 'REPEATABLE READ, READ ONLY'): Steps => new Steps(connections, mode);

  describe(`transactions of ${name}`, () => {
    beforeEach(async () => {
      ({ connections, countWaiting } = await makePlace());
      store = new PostgresStore({
        connections,
        bus: new InProcessBus(),
        dataDir: temporaryFolder(),
        schema: TEST_SCHEMA,
        measureCommit: () => undefined,
        onError: () => undefined,
      });
      const database = await store.open(ID, { onCaughtUp: () => undefined, onLost: () => undefined });
      database.close();
    });
    afterEach(async () => {
      await store.close();
      await connections.close();
    });

    it('get the lock in the order in which they ask, and see the commit before theirs', async () => {
      const [first, second, third] = [begin(), begin(), begin()];
      const order: string[] = [];
      const head = await first.lockHead();
      await first.advanceTo(head + 1);
      const inSecond = second.lockHead().then(async (seen) => {
        order.push(`second sees ${seen - head}`);
        await second.advanceTo(seen + 1);
        await second.end(true);
      });
      await waiting(1);
      const inThird = third.lockHead().then(async (seen) => {
        order.push(`third sees ${seen - head}`);
        await third.end(false);
      });
      await waiting(2);
      expect(order).toEqual([]);
      await first.end(true);
      await Promise.all([inSecond, inThird]);
      expect(order).toEqual(['second sees 1', 'third sees 2']);
    });

    it('see at READ COMMITTED what is committed when a statement begins, and nothing later', async () => {
      const [writer, reader] = [begin(), begin()];
      const head = await reader.readHead();
      await writer.lockHead();
      await writer.advanceTo(head + 1);
      expect(await reader.readHead()).toBe(head);
      await writer.end(true);
      expect(await reader.readHead()).toBe(head + 1);
      await reader.end(false);
    });

    it('see at REPEATABLE READ the state as of their first statement', async () => {
      const reader = begin('REPEATABLE READ, READ ONLY');
      const head = await reader.readHead();
      const writer = begin();
      await writer.lockHead();
      await writer.advanceTo(head + 1);
      await writer.end(true);
      expect(await reader.readHead()).toBe(head);
      await reader.end(false);
      const later = begin('REPEATABLE READ, READ ONLY');
      expect(await later.readHead()).toBe(head + 1);
      await later.end(false);
    });

    it('leave nothing behind when they roll back, and let the next one have the lock', async () => {
      const [first, second] = [begin(), begin()];
      const head = await first.lockHead();
      await first.advanceTo(head + 1);
      const seen = second.lockHead();
      await first.end(false);
      expect(await seen).toBe(head);
      await second.end(false);
    });

    it('cannot log two commits under one number, even without the lock', async () => {
      const [first, second] = [begin(), begin()];
      const head = await first.readHead();
      await first.advanceTo(head + 1);
      const refused = second.advanceTo(head + 1).then(
        () => null,
        (error: unknown) => error,
      );
      await first.end(true);
      expect(await refused).toMatchObject({ fields: { systemCode: '23505' } });
      await second.end(false);
    });
  });
}
