import { readFileSync } from 'node:fs';
import { buildSchema, DEFAULT_DOCUMENT_RULE, type Schema } from '@rockpool/shared';
import { expect, it } from 'vitest';
import { ADMIN_TOKEN, askAdmin } from '../../testing/admin-client.ts';
import { column, TEST_SCHEMA, TEST_TABLES } from '../../testing/test-schema.ts';
import { TestServer } from '../../testing/test-server.ts';
import { STORAGE_FORMAT } from '../sqlite/internal-tables.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import { databaseProblems } from './check-database.ts';
import { databasePath, databasesDirectory } from './data-directory.ts';
import { openDatabaseFile } from './database-file.ts';
import { UnservableDatabases } from './unservable-databases.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';

const withColumn = (name: string): Schema =>
  buildSchema(
    TEST_TABLES.map((one) =>
      one.name === 'accounts' ? { ...one, columns: [...one.columns, column(name, 'text')] } : one,
    ),
  );

/** A data directory with databases of these schemas. */
function directoryWith(schemas: Readonly<Record<string, Schema>>): string {
  const folder = temporaryFolder();
  databasesDirectory(folder);
  for (const [databaseId, schema] of Object.entries(schemas))
    openDatabaseFile(databasePath(folder, databaseId), schema, { databaseId }).sql.close();
  return folder;
}

it('a server names the databases that it cannot open until they are replaced or deleted, and serves the others', async () => {
  const folder = directoryWith({ old: TEST_SCHEMA, branched: withColumn('theirs'), newer: withColumn('ours') });
  const format = new SqliteFile(databasePath(folder, 'old'));
  format.exec(`UPDATE rockpool_meta SET value = '${STORAGE_FORMAT + 1}' WHERE name = 'storage_format'`);
  format.close();
  const server = await TestServer.start(folder, { schema: withColumn('ours'), admin: { token: ADMIN_TOKEN } });
  try {
    await server.sync.ready();
    expect(
      server.events.flatMap(({ event, fields }) => (event === 'database-unservable' ? [fields] : [])),
    ).toMatchObject([
      { database: 'branched', code: 'schema-incompatible' },
      { database: 'old', code: 'database-unavailable' },
    ]);
    expect(await (await server.ask('GET', '/ready')).json()).toMatchObject({ status: 'ready', unservableDatabases: 2 });
    expect(await (await server.ask('GET', '/metrics')).text()).toContain('rockpool_databases_unservable 2');
    const spare = readFileSync(databasePath(directoryWith({ branched: TEST_SCHEMA }), 'branched'));
    await askAdmin(server, 'POST', '/databases/branched/close');
    expect(await (await server.ask('GET', '/ready')).json()).toMatchObject({ unservableDatabases: 2 });
    await askAdmin(server, 'POST', '/databases/branched/replace?confirm=branched', { body: spare });
    await askAdmin(server, 'DELETE', '/databases/old?confirm=old');
    expect(await (await server.ask('GET', '/ready')).json()).toMatchObject({ unservableDatabases: 0 });
    expect(await (await server.ask('GET', '/metrics')).text()).toContain('rockpool_databases_unservable 0');
  } finally {
    await server.stop();
  }
});

it('a server and the check of a database name a column that becomes a document but has other values', async () => {
  const folder = directoryWith({ one: TEST_SCHEMA, two: TEST_SCHEMA });
  const path = databasePath(folder, 'one');
  const file = new SqliteFile(path);
  file.exec(`INSERT INTO entries (id, amount, note) VALUES ('a', 1, 'low tide')`);
  file.close();
  const schema = buildSchema(
    TEST_TABLES.map((one) =>
      one.name === 'entries'
        ? {
            ...one,
            columns: [...one.columns, column('body', 'text')],
            merge: {
              ...one.merge,
              documents: ['note', 'body'].map((name) => ({ ...DEFAULT_DOCUMENT_RULE, column: name })),
            },
          }
        : one,
    ),
  );
  const problem = 'entries: the column note has values that are not documents of its rule';
  expect(databaseProblems(path, 'one', schema)).toContain(problem);
  expect(databaseProblems(databasePath(folder, 'two'), 'two', schema)).toEqual([]);
  const found = new UnservableDatabases(folder, schema).find();
  expect([...found].map(([id, { fields }]) => [id, fields['problems']])).toEqual([['one', problem]]);
});

it('a server does not start if it can open none of the databases', async () => {
  const server = await TestServer.start(directoryWith({ one: withColumn('theirs') }), { schema: withColumn('ours') });
  try {
    await expect(server.sync.ready()).rejects.toMatchObject({
      code: 'schema-incompatible',
      fields: { problems: 'accounts: the column theirs is missing from the new schema' },
    });
  } finally {
    await server.stop();
  }
});
