import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { postgresUnderTest } from '../../testing/postgres-under-test.ts';
import { Connections } from './connection.ts';
import { PoolPatience } from './pool-patience.ts';

const postgres = postgresUnderTest();
/** More turns than a pool may go without progress. */
const MANY_TURNS = 100;

describe('a caller that waits for the only connection', () => {
  let patience: PoolPatience;
  let connections: Connections;
  beforeEach(async () => {
    patience = new PoolPatience();
    const { url } = await postgres.server.createDatabase();
    connections = new Connections(url, { maxConnections: 1, patience });
  });
  afterEach(() => connections.close());

  it('waits as long as a different caller receives responses', async () => {
    let waiting: Promise<unknown> | undefined;
    await connections.transaction(null, 'READ WRITE', async (connection) => {
      waiting = connections.query('SELECT 1');
      for (let turn = 0; turn < MANY_TURNS; turn++) {
        await connection.query('SELECT 2');
        patience.turn();
      }
      return { commit: false, result: null };
    });
    expect(await waiting).toEqual([[1]]);
  });

  it('fails once PostgreSQL has stopped responding, and the connection that arrives too late serves the next caller', async () => {
    await connections.transaction(null, 'READ WRITE', async () => {
      const waiting = connections.query('SELECT 1');
      for (let turn = 0; turn < MANY_TURNS; turn++) patience.turn();
      await expect(waiting).rejects.toMatchObject({
        code: 'database-unavailable',
        fields: { problem: 'PostgreSQL', systemCode: 'ETIMEDOUT' },
      });
      return { commit: false, result: null };
    });
    expect(await connections.query('SELECT 2')).toEqual([[2]]);
    expect(connections.counts()).toEqual({ idle: 1, busy: 0, waiting: 0 });
  });
});
