// The part of each peer's interface that its adapter uses. The peers are installed when the benchmark first runs; types
// are checked without them.

declare module '@hocuspocus/extension-database' {
  interface Stored {
    readonly documentName: string;
  }
  export class Database {
    constructor(options: {
      fetch(document: Stored): Promise<Uint8Array | null>;
      store(document: Stored & { readonly state: Uint8Array }): Promise<void>;
    });
  }
}
declare module '@hocuspocus/server' {
  export class Server {
    constructor(options: { port: number; address: string; quiet: boolean; extensions: readonly object[] });
    listen(): Promise<unknown>;
  }
}
declare module '@hocuspocus/provider' {
  export class HocuspocusProviderWebsocket {
    constructor(options: { url: string; delay: number; minDelay: number; jitter: boolean });
    destroy(): void;
  }
  export class HocuspocusProvider {
    constructor(options: {
      websocketProvider: HocuspocusProviderWebsocket;
      name: string;
      document: unknown;
      token: string;
      onSynced(): void;
    });
    readonly hasUnsyncedChanges: boolean;
    attach(): void;
    destroy(): void;
  }
}

declare module 'tinybase' {
  export interface MergeableStore {
    setRow(table: string, id: string, cells: object): void;
    transaction(body: () => void): void;
    getRowCount(table: string): number;
    addRowListener(table: string, id: null, listener: (store: unknown, table: string, id: string) => void): void;
  }
  export function createMergeableStore(uniqueId?: string): MergeableStore;
}
declare module 'tinybase/persisters/persister-file' {
  export function createFilePersister(store: import('tinybase').MergeableStore, path: string): object;
}
declare module 'tinybase/synchronizers/synchronizer-ws-client' {
  export interface WsSynchronizer {
    startSync(): Promise<unknown>;
    destroy(): Promise<unknown>;
  }
  export function createWsSynchronizer(
    store: import('tinybase').MergeableStore,
    socket: unknown,
  ): Promise<WsSynchronizer>;
}
declare module 'tinybase/synchronizers/synchronizer-ws-server' {
  export function createWsServer(sockets: unknown, createPersister: () => object): object;
}

declare module '@triplit/client' {
  interface Writer {
    insert(collection: string, row: object): Promise<unknown>;
  }
  export class TriplitClient implements Writer {
    constructor(options: {
      storage: string;
      serverUrl: string;
      token: string;
      schema: unknown;
      autoConnect: boolean;
      logLevel: string;
    });
    query(collection: string): object;
    subscribe(
      query: object,
      onRows: (rows: readonly { readonly id: string }[]) => void,
      onError: (error: unknown) => void,
    ): () => void;
    connect(): Promise<void>;
    disconnect(): void;
    insert(collection: string, row: object): Promise<unknown>;
    transact(body: (transaction: Writer) => Promise<void>): Promise<unknown>;
  }
  export const Schema: {
    Collections(collections: object): unknown;
    Schema(columns: object): unknown;
    Id(): unknown;
    String(): unknown;
    Number(): unknown;
  };
}
declare module '@triplit/server' {
  export function createTriplitStorageProvider(kind: string): Promise<unknown>;
  export function createServer(options: {
    storage: unknown;
    dbOptions: { schema: { collections: unknown } };
    jwtSecret: string;
    projectId: string;
    logHandler: { log(): void };
  }): Promise<(port: number) => void>;
}

declare module 'evolu-common-7' {
  export const String: unknown;
  export const Int: unknown;
  export const maxPositiveInt: number;
  export const SimpleName: { orThrow(name: string): unknown };
  export function id(table: string): unknown;
  export function createConsole(): unknown;
  export function createRandom(): unknown;
  export function createRandomBytes(): unknown;
  export function createTime(): unknown;
  export function createWebSocket(url: string, options: object): unknown;
}
declare module 'evolu-common-7/local-first' {
  interface Query {
    select(columns: readonly string[]): Query;
    orderBy(column: string, order: 'asc' | 'desc'): Query;
    limit(count: number): Query;
  }
  export interface Evolu {
    readonly appOwner: Promise<unknown>;
    useOwner(owner: unknown): unknown;
    createQuery(build: (database: { selectFrom(table: string): Query }) => Query): unknown;
    subscribeQuery(query: unknown): (listener: () => void) => () => void;
    getQueryRows(query: unknown): readonly { readonly id: string }[];
    loadQuery(query: unknown): Promise<unknown>;
    upsert(
      table: string,
      row: object,
      options: { onComplete(): void },
    ): { readonly ok: true } | { readonly ok: false; readonly error: unknown };
  }
  export function createAppOwner(secret: Uint8Array): { readonly id: string };
  export function createDbWorkerForPlatform(dependencies: object): unknown;
  export function createEvolu(dependencies: object): (schema: object, options: object) => Evolu;
}
declare module '@evolu/common' {
  export function createConsole(): unknown;
  export function ok(value: unknown): unknown;
}
declare module '@evolu/nodejs' {
  export function createRelayDeps(): object;
  export function createRun(dependencies: object): { orThrow(task: unknown): Promise<unknown> };
  export function startRelay(options: { port: number; isOwnerWithinQuota(): boolean }): unknown;
}

declare module 'cojson' {
  export class LocalNode {
    constructor(secret: string, session: unknown, crypto: unknown);
    readonly syncManager: { addPeer(peer: unknown): void };
    setStorage(storage: object): void;
  }
}
declare module 'cojson/crypto/NapiCrypto' {
  export const NapiCrypto: {
    create(): Promise<{
      newRandomAgentSecret(): string;
      getAgentID(secret: string): string;
      newRandomSessionID(agent: string): unknown;
    }>;
  };
}
declare module 'cojson/dist/storage/sqlite/index.js' {
  export function getSqliteStorage(driver: object): object;
}
declare module 'cojson-transport-ws' {
  export function createWebSocketPeer(options: object): unknown;
}
declare module 'jazz-tools' {
  interface Synced {
    readonly id: string;
    readonly localNode: { getCurrentAgent(): { readonly agentSecret: string } };
    waitForAllCoValuesSync(options: { timeout: number }): Promise<unknown>;
  }
  export const Account: { create(options: object): Promise<{ readonly $jazz: Synced }> };
  export const Group: { create(account: object): { readonly $jazz: Synced } };
  export const co: {
    map(columns: object): unknown;
    record(key: unknown, value: unknown): { create(rows: object, group: object): { readonly $jazz: Synced } };
  };
  export const z: { string(): unknown; number(): unknown };
}
declare module 'jazz-tools/worker' {
  export interface JazzMap {
    readonly id: string;
    get(key: string): unknown;
    set(key: string, value: unknown, privacy: 'private'): void;
    keys(): readonly string[];
    subscribe(listener: () => void): () => void;
  }
  export interface JazzGroup {
    createMap(initial: object, meta: null, privacy: 'private'): JazzMap;
  }
  export interface JazzNode {
    load(id: string): Promise<JazzMap | 'unavailable'>;
  }
  export interface JazzWorker {
    readonly worker: {
      readonly $jazz: {
        readonly localNode: JazzNode;
        waitForAllCoValuesSync(options: { timeout: number }): Promise<unknown>;
      };
    };
    waitForConnection(): Promise<void>;
  }
  export function startWorker(options: object): Promise<JazzWorker>;
}

declare module 'lib0/encoding' {
  type Encoder = object;
  export function createEncoder(): Encoder;
  export function toUint8Array(encoder: Encoder): Uint8Array<ArrayBuffer>;
  export function writeVarUint(encoder: Encoder, value: number): void;
  export function writeVarString(encoder: Encoder, value: string): void;
  export function writeVarUint8Array(encoder: Encoder, value: Uint8Array): void;
}
declare module 'lib0/decoding' {
  export type Decoder = object;
  export function createDecoder(bytes: Uint8Array): Decoder;
  export function readVarUint(decoder: Decoder): number;
  export function readVarString(decoder: Decoder): string;
  export function readVarUint8Array(decoder: Decoder): Uint8Array;
}
