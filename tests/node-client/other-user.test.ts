import { expect, it, onTestFinished } from 'vitest';
import { newId, sql, type Client, type SyncStatus } from '#client/index.ts';
import { createClient, inProcess } from '#client/node/index.ts';
import { buildSchema } from '#shared/index.ts';
import { sampleColumn, sampleTable } from '#shared/testing/sample-schema.ts';
import { createSyncServer, type SyncServer } from '#sync-server/index.ts';
import { temporaryFolder } from '#kit/temporary-folder.ts';

const schema = buildSchema([
  sampleTable('item', [sampleColumn('id', 'text', { notNull: true }), sampleColumn('title', 'text')]),
]);

/** A client of Ann whose tab gets the token of `signedIn`, as with a cookie that all tabs share. */
async function openAsAnn(signedIn: {
  principal: string;
  formerly?: readonly string[];
}): Promise<{ client: Client; server: SyncServer }> {
  const server = createSyncServer({
    dataDir: temporaryFolder(),
    schema,
    secret: 'a secret of tests only, 0123456789abcdef',
    log: () => undefined,
  });
  const client = await createClient({
    name: 'items',
    schema,
    sync: {
      url: 'ws://in-process',
      databaseId: 'list',
      principal: 'ann',
      token: () => server.issueToken({ ...signedIn, databases: ['list'], ttlMs: 60_000 }),
      transport: inProcess(server),
    },
  });
  onTestFinished(async () => {
    await client.close();
    await server.close();
  });
  return { client, server };
}

/** Resolves with the status once the client has synced or cannot. */
async function settled(client: Client): Promise<SyncStatus> {
  let stop: (() => void) | undefined;
  const status = await new Promise<SyncStatus>((resolve) => {
    stop = client.status.subscribe((now) => ['needs-auth', 'up-to-date'].includes(now.state) && resolve(now));
  });
  stop?.();
  return status;
}

const write = (client: Client): { readonly synced: Promise<void> } =>
  client.execute(sql`INSERT INTO item VALUES (${newId()}, 'of ann')`);

it('does not send the changes of a user with the token of another one, who signed in in another tab', async () => {
  const signedIn = { principal: 'ben' };
  const { client, server } = await openAsAnn(signedIn);
  const { synced } = write(client);
  const { state, reason, pendingCount } = await settled(client);
  expect(state).toBe('needs-auth');
  expect([reason, pendingCount]).toMatchObject([{ code: 'other-principal', fields: { stage: 'token' } }, 1]);
  expect(await server.database('list').changesAfter(null)).toMatchObject({ rows: [] });

  signedIn.principal = 'ann';
  await client.sync.tryNow();
  await synced;
  expect(await server.database('list').changesAfter(null)).toMatchObject({ rows: [{ values: { title: 'of ann' } }] });
});

it('sends them with a token that names the user as a former id of the same user', async () => {
  const { client } = await openAsAnn({ principal: 'ann@example.org', formerly: ['ann'] });
  await write(client).synced;
  expect(client.status.current.state).toBe('up-to-date');
});
