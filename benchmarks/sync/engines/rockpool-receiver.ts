import { connectOver, type ServerConnection } from '../../../packages/client/src/worker/sync/server-connection.ts';
import { webSocketTransport } from '../../../packages/client/src/worker/sync/web-socket-transport.ts';
import {
  FIRST_LOG_HASH,
  FIRST_PREVIOUS_HASH,
  ID_BYTES,
  PING_INTERVAL_MS,
  PROTOCOL_VERSION,
  type Hello,
  type ServerMessage,
} from '../../../packages/shared/src/index.ts';
import { issueToken } from '../../../packages/sync-server/src/index.ts';
import type { Receiver } from '../engine.ts';
import { DATABASE_ID, schema, SECRET } from './rockpool-shared.ts';

const TOKEN_TTL_MS = 60 * 60_000;

/** Decodes deliveries by the client's code, and keeps the ids of their rows. */
export class RockpoolReceiver implements Receiver {
  readonly #port: number;
  readonly #ids = new Set<string>();
  #tell: (id: string) => void = () => undefined;
  #connection: ServerConnection | undefined;
  #pinging: NodeJS.Timeout | undefined;

  constructor(port: number) {
    this.#port = port;
  }

  async connect(): Promise<void> {
    const hello = await newHello();
    const connection = connectOver(webSocketTransport)(`ws://127.0.0.1:${this.#port}/sync`, {
      onOpen: () => connection.send(hello),
      onMessage: (message) => this.#receive(message),
      onFailed: (error) => console.error(error),
    });
    this.#connection = connection;
    this.#pinging = setInterval(() => connection.send({ type: 'ping' }), PING_INTERVAL_MS);
  }

  count(): number {
    return this.#ids.size;
  }

  onRow(listener: (id: string) => void): void {
    this.#tell = listener;
  }

  async close(): Promise<void> {
    clearInterval(this.#pinging);
    this.#connection?.close();
  }

  #receive(message: ServerMessage): void {
    if (message.type !== 'delivery' && message.type !== 'delivery-part') return;
    for (const { keys } of message.groups) {
      for (const id of keys[0] ?? []) {
        this.#ids.add(String(id));
        this.#tell(String(id));
      }
    }
  }
}

/** The hello of a client without data. */
async function newHello(): Promise<Hello> {
  return {
    type: 'hello',
    protocolVersion: PROTOCOL_VERSION,
    token: await issueToken(SECRET, { principal: 'ann', databases: [DATABASE_ID], ttlMs: TOKEN_TTL_MS }, Date.now()),
    databaseId: DATABASE_ID,
    databaseIdentity: null,
    siteId: crypto.getRandomValues(new Uint8Array(ID_BYTES)),
    schemaHash: schema.hash,
    logEpoch: null,
    cursor: 0,
    cursorHash: FIRST_LOG_HASH,
    lastAckedSequence: 0,
    decidedHash: FIRST_PREVIOUS_HASH,
    lastSequence: 0,
    fullResync: false,
    snapshot: 'refused',
  };
}
