// The part of each peer's interface that its adapter uses. The peers are installed when the benchmark first runs; types are checked without them.

declare module '@hocuspocus/extension-database' {
  interface Stored {
    readonly documentName: string;
  }
  export class Database {
    constructor(options: { fetch(document: Stored): Promise<Uint8Array | null>; store(document: Stored & { readonly state: Uint8Array }): Promise<void> });
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
    constructor(options: { websocketProvider: HocuspocusProviderWebsocket; name: string; document: unknown; token: string; onSynced(): void });
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
  export function createWsSynchronizer(store: import('tinybase').MergeableStore, socket: unknown): Promise<WsSynchronizer>;
}
declare module 'tinybase/synchronizers/synchronizer-ws-server' {
  export function createWsServer(sockets: unknown, createPersister: () => object): object;
}

declare module '@triplit/client' {
  interface Writer {
    insert(collection: string, row: object): Promise<unknown>;
  }
  export class TriplitClient implements Writer {
    constructor(options: { storage: string; serverUrl: string; token: string; schema: unknown; autoConnect: boolean; logLevel: string });
    query(collection: string): object;
    subscribe(query: object, onRows: (rows: readonly { readonly id: string }[]) => void, onError: (error: unknown) => void): () => void;
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
