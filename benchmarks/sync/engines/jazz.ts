// Jazz: a map for each row, in a record of one group; all clients are one account. Rows are read through its core,
// which costs less than the subscriptions that apps use.
import { NapiCrypto } from 'cojson/crypto/NapiCrypto';
import { startWorker, type JazzGroup, type JazzMap, type JazzNode, type JazzWorker } from 'jazz-tools/worker';
import type { Engine, SyncClient } from '../engine.ts';
import type { LedgerRow } from '../rows.ts';
import type { JazzCredentials } from './jazz-schema.ts';
import { gatedSocketClass, SocketGate } from './socket-gate.ts';

const SCAN_MS = 2;

export const engine: Engine = {
  async startServer(port, folder) {
    const { startJazzServer } = await import('./jazz-server.ts');
    await startJazzServer(port, folder);
  },
  async createClient(port) {
    const client = new JazzLedger(port);
    await client.open();
    return client;
  },
};

class JazzLedger implements SyncClient {
  readonly #port: number;
  readonly #gate = new SocketGate();
  readonly #maps = new Map<string, JazzMap>();
  readonly #loading = new Set<string>();
  #worker: JazzWorker | undefined;
  #node: JazzNode | undefined;
  #rows: JazzMap | undefined;
  #group: JazzGroup | undefined;
  #tell: (id: string) => void = () => undefined;
  #hasUpdates = true;
  #isSent = true;
  #scanning: NodeJS.Timeout | undefined;

  constructor(port: number) {
    this.#port = port;
  }

  /** Loads the record and its group, for which it has to be online, and goes offline again. */
  async open(): Promise<void> {
    const origin = `127.0.0.1:${this.#port}`;
    const { accountId, secret, rowsId, groupId } = (await (await fetch(`http://${origin}`)).json()) as JazzCredentials;
    this.#gate.open();
    this.#worker = await startWorker({
      accountID: accountId,
      accountSecret: secret,
      syncServer: `ws://${origin}`,
      WebSocket: gatedSocketClass(this.#gate),
      skipInboxLoad: true,
      asActiveAccount: false,
      crypto: await NapiCrypto.create(),
    });
    await this.#worker.waitForConnection();
    this.#node = this.#worker.worker.$jazz.localNode;
    this.#rows = (await this.#node.load(rowsId)) as JazzMap;
    this.#group = (await this.#node.load(groupId)) as unknown as JazzGroup;
    this.#gate.close();
    this.#rows.subscribe(() => void (this.#hasUpdates = true));
    this.#scanning = setInterval(() => this.#scan(), SCAN_MS);
  }

  async connect(): Promise<void> {
    this.#gate.open();
  }

  async disconnect(): Promise<void> {
    this.#gate.close();
  }

  insert(row: LedgerRow): void {
    const map = this.#group!.createMap({ ...row }, null, 'private');
    this.#maps.set(row.id, map);
    this.#rows!.set(row.id, map.id, 'private');
    this.#isSent = false;
  }

  insertMany(rows: readonly LedgerRow[]): void {
    for (const row of rows) this.insert(row);
    void this.#worker!.worker.$jazz.waitForAllCoValuesSync({ timeout: 200_000 }).then(() => (this.#isSent = true));
  }

  count(): number {
    return this.#maps.size;
  }

  onRow(listener: (id: string) => void): void {
    this.#tell = listener;
  }

  isSent(): boolean {
    return this.#isSent;
  }

  async close(): Promise<void> {
    clearInterval(this.#scanning);
    this.#gate.close();
  }

  /** The referenced values are loaded one by one. */
  #scan(): void {
    const rows = this.#rows;
    if (!this.#hasUpdates || rows === undefined) return;
    this.#hasUpdates = false;
    for (const id of rows.keys()) {
      if (this.#maps.has(id) || this.#loading.has(id)) continue;
      this.#loading.add(id);
      void this.#load(id, rows.get(id) as string);
    }
  }

  async #load(id: string, mapId: string): Promise<void> {
    const map = await this.#node!.load(mapId);
    this.#loading.delete(id);
    if (map === 'unavailable') {
      this.#hasUpdates = true;
      return;
    }
    const take = (): boolean => {
      if (map.get('notes') === undefined) return false;
      if (!this.#maps.has(id)) {
        this.#maps.set(id, map);
        this.#tell(id);
      }
      return true;
    };
    if (take()) return;
    const unsubscribe = map.subscribe(() => {
      if (take()) unsubscribe();
    });
  }
}
