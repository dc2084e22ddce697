import { buildSchema } from '@rockpool/shared';
import { expect, it } from 'vitest';
import { postgresUnderTest } from '../../../testing/postgres-under-test.ts';
import { column, TEST_SCHEMA, TEST_TABLES } from '../../../testing/test-schema.ts';
import { Connections } from '../../postgres/connection.ts';
import { takeLease } from './lease.ts';
import { prepareSchema } from './prepare-schema.ts';

const postgres = postgresUnderTest();

/** Connections that record the queries of their transactions. */
class RecordedConnections extends Connections {
  readonly queries: string[] = [];

  override transaction(...[databaseId, mode, body]: Parameters<Connections['transaction']>): Promise<never> {
    return super.transaction(databaseId, mode, (connection) =>
      body({
        query: (sql, parameters) => {
          this.queries.push(sql);
          return connection.query(sql, parameters);
        },
      }),
    ) as Promise<never>;
  }
}

it('a query that changes an existing table has one statement', async () => {
  const { url } = await postgres.server.createDatabase();
  const connections = new RecordedConnections(url);
  await prepareSchema(connections, TEST_SCHEMA);
  const color = column('color', 'text', { notNull: true, defaultSql: `'red'` });
  const extended = buildSchema(
    TEST_TABLES.map((one) => (one.name === 'accounts' ? { ...one, columns: [...one.columns, color] } : one)),
  );
  await prepareSchema(connections, extended);
  await connections.close();
  const changing = connections.queries.filter((sql) => sql.startsWith('ALTER TABLE'));
  expect(changing.filter((sql) => sql.includes('DEFAULT'))).toHaveLength(2);
  expect(changing.filter((sql) => sql.includes(';'))).toEqual([]);
});

it('the statement that takes a lease calls no volatile function', async () => {
  let statement = '';
  const connection = { query: async (sql: string) => ((statement = sql), []) };
  await takeLease(connection, 'household', 'instance', 0);
  const called = [...statement.matchAll(/(\w+)\(/g)].map(([, name]) => `'${name}'`);
  expect(called).not.toEqual([]);
  const volatile = `SELECT proname FROM pg_proc WHERE provolatile = 'v' AND proname IN (${called.join()})`;
  expect(await postgres.server.query(null, volatile)).toEqual([]);
});
