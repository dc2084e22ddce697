import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import type { Schema } from '@rockpool/shared';
import { Hono } from 'hono';
import {
  createSyncServer,
  RockpoolError,
  type FeedPosition,
  type Member,
  type BackendRowChange,
  type Principal,
  type RowUpdate,
  type SyncServer,
} from '../src/index.ts';

export interface GuideSettings {
  readonly dataDir: string;
  readonly schema: Schema;
  readonly secret: string;
  /** The user who has signed in to the app. */
  readonly principal: string;
}

export interface GuideSession {
  readonly userId: string;
  readonly name: string;
  readonly expiresAtMs: number;
}

export interface GuideRun {
  readonly sync: SyncServer;
  readonly http: Server;
  /** The updates that the program has received. */
  readonly updates: readonly RowUpdate[];
  /** The error of its second write. */
  readonly refusal: string;
  /** The code of its invitation. */
  readonly code: string;
  readonly members: readonly Member[];
}

/**
 * Runs the code of docs/server.md; a test compares the two. Contains every line of the page's code blocks, and the
 * lines around them.
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

  const updates: RowUpdate[] = [];
  let position: FeedPosition | null = null;
  const budget = sync.database('my-budget');
  // durable when it resolves; reaches every device
  await budget.transaction((tx) => tx.insert('accounts', { id: 'a', name: 'from the server' }));
  const refusal = await budget
    .transaction((tx) => tx.update('accounts', { id: 'a' }, { rank: -1 }))
    .then(
      () => '',
      (error: Error) => error.message,
    );
  for await (const { rows, logEpoch, watermark, logHash } of budget.changes({ from: position })) {
    updates.push(...rows); // the changed rows in their new state
    position = { logEpoch, watermark, logHash }; // store it to resume here, also after a restart
    break;
  }
  await sync.members.setRole('my-budget', 'ann', 'owner'); // null instead of a role revokes
  const code = await sync.members.invite({
    databaseId: 'my-budget',
    role: 'editor',
    expiresAtMs: Date.now() + 86_400_000,
  });
  const members = sync.members.list('my-budget'); // { principal, role }, from which your app tells a page its user's role
  return { sync, http, updates, refusal, code, members };
}

/** Returns the `authenticate` of docs/server.md for a host that has these sessions, by token. */
export function hostAuthentication(sessions: ReadonlyMap<string, GuideSession>): (token: string) => Promise<Principal> {
  const authenticate = async (token: string): Promise<Principal> => {
    const session = sessions.get(token);
    if (session === undefined) throw new RockpoolError('auth-token-expired'); // of @rockpool/sync-server
    return { id: session.userId, name: session.name, expiresAtMs: session.expiresAtMs };
  };
  return authenticate;
}
