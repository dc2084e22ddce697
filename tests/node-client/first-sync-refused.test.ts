import { expect, it, onTestFinished } from 'vitest';
import { type RockpoolError, type SyncStatus } from '#client/index.ts';
import { createClient, inProcess } from '#client/node/index.ts';
import { buildSchema } from '#shared/index.ts';
import { sampleColumn, sampleTable } from '#shared/testing/sample-schema.ts';
import { createSyncServer } from '#sync-server/index.ts';
import { temporaryFolder } from '#kit/temporary-folder.ts';

const schema = buildSchema([sampleTable('item', [sampleColumn('id', 'text', { notNull: true })])]);
const otherSchema = buildSchema([sampleTable('thing', [sampleColumn('id', 'text', { notNull: true })])]);

it.each([
  ['a user without a role', { schema, code: 'auth-database-forbidden' }],
  ['an app whose schema the server does not have', { schema: otherSchema, code: 'schema-mismatch' }],
])(
  'a first sync that the server refuses is reported by the status alone: %s',
  async (_case, { schema: ofApp, code }) => {
    const server = createSyncServer({
      dataDir: temporaryFolder(),
      schema,
      secret: 'a secret of tests only, 0123456789abcdef',
      log: () => undefined,
    });
    const problems: RockpoolError[] = [];
    const databases = code === 'schema-mismatch' ? ['list'] : [];
    const client = await createClient({
      name: 'items',
      schema: ofApp,
      sync: {
        url: 'ws://in-process',
        databaseId: 'list',
        token: () => server.issueToken({ principal: 'ann', databases, ttlMs: 3_600_000 }),
        transport: inProcess(server),
        firstSync: {},
      },
      onError: (error) => problems.push(error),
    });
    onTestFinished(async () => {
      await client.close();
      await server.close();
    });
    const { reason } = await statusWith(client.status, ({ state }) => state === 'needs-auth' || state === 'blocked');
    expect([reason?.code, problems]).toEqual([code, []]);
  },
);

async function statusWith(
  status: { subscribe(listener: (status: SyncStatus) => void): () => void },
  isSought: (status: SyncStatus) => boolean,
): Promise<SyncStatus> {
  let stop: (() => void) | undefined;
  const found = await new Promise<SyncStatus>((resolve) => {
    stop = status.subscribe((now) => isSought(now) && resolve(now));
  });
  stop?.();
  return found;
}
