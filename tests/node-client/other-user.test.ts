import { describe, expect, it, onTestFinished } from 'vitest';
import { newId, sql, type Client, type SyncStatus } from '#client/index.ts';
import { createDevice, inProcess, type Device } from '#client/node/index.ts';
import { buildSchema } from '#shared/index.ts';
import { sampleColumn, sampleTable } from '#shared/testing/sample-schema.ts';
import { createSyncServer, type SyncServer } from '#sync-server/index.ts';
import { temporaryFolder } from '#kit/temporary-folder.ts';

const schema = buildSchema([
  sampleTable('item', [sampleColumn('id', 'text', { notNull: true }), sampleColumn('title', 'text')]),
]);

interface SignedIn {
  principal: string;
  formerly?: readonly string[];
}

function startServer(): SyncServer {
  const server = createSyncServer({
    dataDir: temporaryFolder(),
    schema,
    secret: 'a secret of tests only, 0123456789abcdef',
    log: () => undefined,
  });
  onTestFinished(() => server.close());
  return server;
}

interface OpenOptions {
  readonly server: SyncServer;
  readonly device?: Device;
  readonly principal?: string;
  readonly signedIn: SignedIn;
}

/** A client whose tab gets the token of `signedIn`, as with a cookie that all tabs share. */
async function open({ server, device = createDevice(), principal = 'ann', signedIn }: OpenOptions): Promise<Client> {
  const client = await device.createClient({
    name: 'items',
    schema,
    sync: {
      url: 'ws://in-process',
      databaseId: 'list',
      principal,
      token: () => server.issueToken({ ...signedIn, databases: ['list'], ttlMs: 3_600_000 }),
      transport: inProcess(server),
    },
  });
  onTestFinished(() => client.close());
  return client;
}

async function until(client: Client, state: SyncStatus['state']): Promise<SyncStatus> {
  let stop: (() => void) | undefined;
  const status = await new Promise<SyncStatus>((resolve) => {
    stop = client.status.subscribe((now) => now.state === state && resolve(now));
  });
  stop?.();
  return status;
}

const write = (client: Client, title = 'of ann'): { readonly synced: Promise<void> } =>
  client.execute(sql`INSERT INTO item VALUES (${newId()}, ${title})`);

const titlesOn = async (server: SyncServer): Promise<unknown[]> =>
  (await server.database('list').changesAfter(null))?.rows.map(({ values }) => values?.['title']) ?? [];

describe.each([
  ['the principal', 'ann'],
  ['an id of the identity provider', 'idp|1'],
])('with %s in the tokens', (_, id) => {
  it('does not send the changes of a user with the token of another one, who signed in in another tab', async () => {
    const server = startServer();
    const device = createDevice();
    const signedIn = { principal: id };
    const client = await open({ server, device, signedIn });
    await write(client, 'first').synced;
    await client.sync.pause();
    write(client);
    signedIn.principal = 'idp|2';
    await client.sync.resume();
    const { reason, pendingCount } = await until(client, 'needs-auth');
    expect([reason, pendingCount]).toMatchObject([{ code: 'other-principal', fields: { stage: 'token' } }, 1]);
    await client.close();
    const again = await open({ server, device, signedIn });
    expect((await until(again, 'needs-auth')).reason).toMatchObject({ code: 'other-principal' });
    expect(await titlesOn(server)).toEqual(['first']);

    signedIn.principal = id;
    await again.sync.tryNow();
    await until(again, 'up-to-date');
    expect(await titlesOn(server)).toEqual(['first', 'of ann']);
  });

  it('accepts the tokens of the next principal', async () => {
    const server = startServer();
    const device = createDevice();
    const client = await open({ server, device, signedIn: { principal: id } });
    await write(client).synced;
    await client.close();
    const next = await open({ server, device, principal: 'ben', signedIn: { principal: 'idp|2' } });
    await write(next, 'of ben').synced;
    expect(await titlesOn(server)).toEqual(['of ann', 'of ben']);
  });

  it('sends the changes with a token that names the user as a former id of the same user', async () => {
    const server = startServer();
    const signedIn: SignedIn = { principal: id };
    const client = await open({ server, signedIn });
    await write(client).synced;
    await client.sync.pause();
    Object.assign(signedIn, { principal: 'ann@example.org', formerly: [id] });
    await client.sync.resume();
    await write(client, 'later').synced;
    expect(await titlesOn(server)).toEqual(['of ann', 'later']);
  });
});

it('accepts the tokens of the principal after a first session with the token of another user', async () => {
  const server = startServer();
  const signedIn = { principal: 'ben' };
  const client = await open({ server, signedIn });
  await until(client, 'up-to-date');
  await client.sync.pause();
  signedIn.principal = 'ann';
  await client.sync.resume();
  await write(client).synced;
  expect(await titlesOn(server)).toEqual(['of ann']);
});
