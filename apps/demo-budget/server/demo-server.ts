import { mkdirSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { createSyncServer, SYNC_PATH, type Role, type SyncServer } from '@rockpool/sync-server';
import { Hono } from 'hono';
import { schema } from '../src/schema.ts';
import { answerBudgetRoute, type TokenWish } from './budget-routes.ts';
import { openBudgets } from './budgets.ts';
import { leaveOldLayout } from './old-layout.ts';
import { openPeople } from './people.ts';
import { answerPeopleRoute, roleOfKey } from './people-routes.ts';
import { signingSecret } from './signing-secret.ts';
import { staticFiles } from './static-files.ts';

export interface DemoServerOptions {
  /** Folder of the built app. */
  readonly distFolder: string;
  /** Everything that must outlive the process: databases, share keys and the signing secret. Created if missing. */
  readonly dataFolder: string;
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
}

export interface DemoServer {
  readonly port: number;
  /** Ends sessions, finishes pending pushes, closes files and the port. */
  stop(): Promise<void>;
}

/** A browser requests a new token for each connection, so a revoked share key keeps working for at most this long. */
const tokenTtlMs = 60 * 60 * 1_000;

/**
 * One program that serves the app, issues tokens for budgets, and syncs them: everything that a household needs to run.
 * Rejects if the port is in use or another server uses the data folder.
 */
export async function startDemoServer({ distFolder, dataFolder, host, port }: DemoServerOptions): Promise<DemoServer> {
  mkdirSync(dataFolder, { recursive: true });
  leaveOldLayout(dataFolder);
  const files = await staticFiles(distFolder);
  // Only members who may change the data may see its history.
  const sync = createSyncServer({
    dataDir: dataFolder,
    schema,
    secret: signingSecret(dataFolder),
    historyRole: 'editor',
  });
  const budgets = openBudgets(dataFolder);
  const people = openPeople(dataFolder);
  const { members } = sync;
  const routes = {
    budgets,
    issueToken: ({ databaseId, principal, name, role }: TokenWish) =>
      sync.issueToken({
        principal,
        ...(name === '' ? {} : { name }),
        databases: [databaseId],
        role,
        ttlMs: tokenTtlMs,
      }),
    rememberAuthor: people.rememberAuthor,
    roleOfKey: (databaseId: string, key: string) => roleOfKey({ budgets, people, members }, databaseId, key),
  };
  const peopleRoutes = {
    budgets,
    people,
    members,
    acceptInvitation: (code: string, principal: string) => acceptInvitation(sync, code, principal),
    now: Date.now,
  };

  const app = new Hono();
  app.use(
    async ({ req }, next) =>
      (await answerBudgetRoute(req.raw, routes)) ??
      (await answerPeopleRoute(req.raw, peopleRoutes)) ??
      (await files.answer(req.path, req.header('accept-encoding') ?? '')) ??
      (await next()),
  );
  app.route(SYNC_PATH, sync.app);
  app.route('/', sync.app);
  app.notFound(async ({ req }) => {
    const wantsPage = req.method === 'GET' && req.header('accept')?.includes('text/html') === true;
    return (wantsPage ? await files.notFound() : undefined) ?? Response.json({ error: 'not-found' }, { status: 404 });
  });
  // The adapter's type also allows HTTP/2 servers; without options it creates a plain HTTP server.
  const http = createAdaptorServer({ fetch: app.fetch }) as Server;
  sync.attach(http);

  const stop = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => void http.close(() => resolve()));
    await sync.close();
    http.closeAllConnections();
    await closed;
    budgets.close();
    people.close();
  };

  try {
    await new Promise<void>((resolve, reject) => void http.once('error', reject).listen(port, host, resolve));
  } catch (error) {
    await sync.close();
    budgets.close();
    people.close();
    throw error;
  }
  return { port: (http.address() as AddressInfo).port, stop };
}

/** Uses the same route as any other program, with a token of the new member. */
async function acceptInvitation(
  sync: SyncServer,
  code: string,
  principal: string,
): Promise<{ readonly databaseId: string; readonly role: Role } | undefined> {
  const token = await sync.issueToken({ principal, databases: [], ttlMs: 60_000 });
  const response = await sync.app.request('/invitations/accept', {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  });
  return response.ok ? ((await response.json()) as { databaseId: string; role: Role }) : undefined;
}
