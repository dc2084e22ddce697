import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import type { Schema } from '@rockpool/shared';
import { Hono } from 'hono';
import {
  createSyncServer,
  type FeedPosition,
  type BackendRowChange,
  type RowUpdate,
  type SyncServer,
} from '../src/index.ts';

export interface GuideSettings {
  readonly dataDir: string;
  readonly schema: Schema;
  readonly secret: string;
  /** Who has signed in to the app. */
  readonly principal: string;
}

export interface GuideRun {
  readonly sync: SyncServer;
  readonly http: Server;
  /** What the program has heard of. */
  readonly heard: readonly RowUpdate[];
  /** Why its second write was refused. */
  readonly refusal: string;
}

/**
 * The code of docs/server.md, which a test compares with this. It begins before the first and ends behind the last line
 * that is the guide's.
 */
export async function runServerGuide({ dataDir, schema, secret, principal }: GuideSettings): Promise<GuideRun> {
  const isOverdrawn = ({ table, after }: BackendRowChange): boolean =>
    table === 'accounts' && Number(after?.['rank'] ?? 0) < 0;
  const sync = createSyncServer({
    dataDir,
    schema,
    secret,
    validate: (databaseId, { changes }) => (changes.some(isOverdrawn) ? `no credit in ${databaseId}` : null),
  });
  const app = new Hono();
  app.route('/sync', sync.app); // plain HTTP
  app.get('/token', async (context) =>
    context.text(await sync.issueToken({ principal, databases: ['my-list'], ttlMs: 3_600_000 })),
  );
  const http = createAdaptorServer({ fetch: app.fetch }) as Server;
  sync.attach(http, '/sync'); // WebSockets
  http.listen(0, '127.0.0.1');

  const heard: RowUpdate[] = [];
  let kept: FeedPosition | null = null;
  const budget = sync.database('my-budget');
  // durable when it resolves; reaches every device
  await budget.transaction((tx) => tx.insert('accounts', { id: 'a', name: 'from the server' }));
  const refusal = await budget
    .transaction((tx) => tx.update('accounts', { id: 'a' }, { rank: -1 }))
    .then(
      () => '',
      (error: Error) => error.message,
    );
  for await (const { rows, logEpoch, watermark, logHash } of budget.changes({ from: kept })) {
    heard.push(...rows); // what changed, as state
    kept = { logEpoch, watermark, logHash }; // from where it goes on, also after a restart
    break;
  }
  return { sync, http, heard, refusal };
}
