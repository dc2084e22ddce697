import { afterEach, beforeEach, expect, it } from 'vitest';
import { postgresUnderTest } from '../../testing/postgres-under-test.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { Connections } from '../postgres/connection.ts';
import { prepareSchema } from '../store/postgres/prepare-schema.ts';
import { PostgresMembers } from './postgres-members.ts';

const postgres = postgresUnderTest();

let connections: Connections;
beforeEach(async () => {
  const { url } = await postgres.server.createDatabase();
  // With one connection, statements run in the order in which they are sent.
  connections = new Connections(url, { maxConnections: 1 });
});
afterEach(() => connections.close());

it.each<[string, (members: PostgresMembers) => Promise<unknown>, unknown]>([
  ['a poll', (members) => members.readRecent(), []],
  ['an acceptance', (members) => members.acceptInvitation(new Uint8Array(32), 'ann', 0, () => 'viewer'), null],
])('%s that begins before the tables exist waits for them', async (_, use, answer) => {
  const tables = Promise.withResolvers<void>();
  const answered = use(new PostgresMembers(connections, () => tables.promise));
  await prepareSchema(connections, TEST_SCHEMA);
  tables.resolve();
  expect(await answered).toEqual(answer);
});
