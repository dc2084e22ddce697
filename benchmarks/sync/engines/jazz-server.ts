// Jazz: its sync server over SQLite, assembled here because the published command uses an older core. A plain GET
// returns the account that all clients share.
import { LocalNode } from 'cojson';
import { NapiCrypto } from 'cojson/crypto/NapiCrypto';
import { getSqliteStorage } from 'cojson/dist/storage/sqlite/index.js';
import { createWebSocketPeer } from 'cojson-transport-ws';
import { Account, Group } from 'jazz-tools';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { LedgerRows, type JazzCredentials } from './jazz-schema.ts';

const PING_MS = 1500;
const SYNCED_TIMEOUT_MS = 10_000;

interface SocketServer {
  readonly WebSocketServer: new (options: { noServer: true }) => {
    handleUpgrade(request: unknown, socket: unknown, head: unknown, onSocket: (socket: ServerSocket) => void): void;
  };
}
interface ServerSocket {
  send(text: string): void;
  on(event: 'close', listener: () => void): void;
}

export async function startJazzServer(port: number, folder: string): Promise<void> {
  const { WebSocketServer } = (await import('ws' as string)) as SocketServer;
  const crypto = await NapiCrypto.create();
  const secret = crypto.newRandomAgentSecret();
  const node = new LocalNode(secret, crypto.newRandomSessionID(crypto.getAgentID(secret)), crypto);
  node.setStorage(getSqliteStorage(sqliteDriver(join(folder, 'jazz.db'))));
  let credentials: JazzCredentials | null = null;
  const server = createServer((_request, response) => response.end(JSON.stringify(credentials)));
  const sockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) =>
    sockets.handleUpgrade(request, socket, head, (websocket) => {
      const pings = setInterval(
        () => websocket.send(JSON.stringify({ type: 'ping', time: Date.now(), dc: 'unknown' })),
        PING_MS,
      );
      websocket.on('close', () => clearInterval(pings));
      node.syncManager.addPeer(
        createWebSocketPeer({
          id: `client-${Math.random()}`,
          role: 'client',
          websocket,
          expectPings: false,
          batchingByDefault: false,
          deletePeerStateOnClose: true,
        }),
      );
    }),
  );
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  credentials = await createLedger(port);
}

async function createLedger(port: number): Promise<JazzCredentials> {
  const websocket = new WebSocket(`ws://127.0.0.1:${port}`);
  await new Promise((resolve) => websocket.addEventListener('open', resolve));
  const peers = [createWebSocketPeer({ id: 'upstream', role: 'server', websocket })];
  const account = await Account.create({
    creationProps: { name: 'benchmark' },
    peers,
    crypto: await NapiCrypto.create(),
  });
  const group = Group.create(account);
  const rows = LedgerRows.create({}, group);
  await account.$jazz.waitForAllCoValuesSync({ timeout: SYNCED_TIMEOUT_MS });
  const credentials = {
    accountId: account.$jazz.id,
    secret: account.$jazz.localNode.getCurrentAgent().agentSecret,
    rowsId: rows.$jazz.id,
    groupId: group.$jazz.id,
  };
  websocket.close();
  return credentials;
}

type JazzValue = string | number | null | Uint8Array;

function sqliteDriver(file: string): object {
  const database = new DatabaseSync(file);
  database.exec('PRAGMA journal_mode = WAL');
  const statements = new Map<string, StatementSync>();
  const prepared = (sql: string): StatementSync => {
    const statement = statements.get(sql) ?? database.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  const values = (params: readonly (JazzValue | boolean | undefined)[] = []): JazzValue[] =>
    params.map((value) => (typeof value === 'boolean' ? Number(value) : (value ?? null)));
  return {
    run: (sql: string, params: readonly JazzValue[]) => void prepared(sql).run(...values(params)),
    query: (sql: string, params: readonly JazzValue[]) => prepared(sql).all(...values(params)),
    get: (sql: string, params: readonly JazzValue[]) => prepared(sql).get(...values(params)),
    transaction<T>(body: () => T): T {
      database.exec('BEGIN');
      try {
        const result = body();
        database.exec('COMMIT');
        return result;
      } catch (thrown) {
        database.exec('ROLLBACK');
        throw thrown;
      }
    },
    closeDb: () => database.close(),
  };
}
