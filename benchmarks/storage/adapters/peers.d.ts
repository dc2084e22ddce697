// The part of each peer's interface that its adapter uses. The peers are installed when a benchmark first runs; types
// are checked without them.

declare module '*.wasm?url' {
  const url: string;
  export default url;
}

declare module '@sqlite.org/sqlite-wasm' {
  export interface PreparedStatement {
    bind(parameters: readonly (string | number)[]): this;
    step(): boolean;
    stepReset(): this;
    reset(): this;
    get(into: object): Record<string, unknown>;
    finalize(): void;
  }
  export interface Oo1Database {
    exec(sql: string): void;
    prepare(sql: string): PreparedStatement;
    close(): void;
  }
  interface Pool {
    readonly OpfsSAHPoolDb: new (path: string) => Oo1Database;
  }
  const initialise: () => Promise<{
    installOpfsSAHPoolVfs(options: { name: string; directory: string }): Promise<Pool>;
  }>;
  export default initialise;
}

declare module '@journeyapps/wa-sqlite' {
  export interface VfsFactory {
    create(name: string, module: unknown): Promise<unknown>;
  }
  export interface SQLiteAPI {
    vfs_register(vfs: unknown, makeDefault: boolean): void;
    open_v2(path: string): Promise<number>;
    exec(database: number, sql: string): Promise<number>;
    statements(database: number, sql: string, options: { unscoped: boolean }): AsyncIterable<number>;
    bind_collection(statement: number, values: readonly (string | number)[]): number;
    step(statement: number): Promise<number>;
    reset(statement: number): Promise<number>;
    row(statement: number): unknown[];
    column_names(statement: number): string[];
    finalize(statement: number): Promise<number>;
    close(database: number): Promise<number>;
  }
  export const SQLITE_ROW: number;
  export function Factory(module: unknown): SQLiteAPI;
}
declare module '@journeyapps/wa-sqlite/dist/*.mjs' {
  const create: (options: { locateFile(): string }) => Promise<unknown>;
  export default create;
}
declare module '@journeyapps/wa-sqlite/src/examples/AccessHandlePoolVFS.js' {
  export const AccessHandlePoolVFS: import('@journeyapps/wa-sqlite').VfsFactory;
}
declare module '@journeyapps/wa-sqlite/src/examples/IDBBatchAtomicVFS.js' {
  export const IDBBatchAtomicVFS: import('@journeyapps/wa-sqlite').VfsFactory;
}
declare module '@journeyapps/wa-sqlite/src/examples/IDBMirrorVFS.js' {
  export const IDBMirrorVFS: import('@journeyapps/wa-sqlite').VfsFactory;
}
declare module '@journeyapps/wa-sqlite/src/examples/OPFSWriteAheadVFS.js' {
  export const OPFSWriteAheadVFS: import('@journeyapps/wa-sqlite').VfsFactory;
}

declare module '@jlongster/sql.js' {
  export interface SqlJsStatement {
    run(parameters: readonly (string | number)[]): void;
    bind(parameters: readonly (string | number)[]): boolean;
    step(): boolean;
    getAsObject(): Record<string, unknown>;
    reset(): void;
    free(): void;
  }
  export interface SqlJsDatabase {
    exec(sql: string): void;
    prepare(sql: string): SqlJsStatement;
    close(): void;
  }
  interface SqlJs {
    readonly FS: { mkdir(path: string): void; mount(files: unknown, options: object, path: string): void };
    readonly Database: new (path: string, options: { filename: boolean }) => SqlJsDatabase;
    register_for_idb(files: unknown): void;
  }
  const initSqlJs: (options: { locateFile(): string }) => Promise<SqlJs>;
  export default initSqlJs;
}
declare module 'absurd-sql' {
  export const SQLiteFS: new (fs: unknown, backend: unknown) => object;
}
declare module 'absurd-sql/dist/indexeddb-backend' {
  const IndexedDBBackend: new (onLockLost: () => void) => object;
  export default IndexedDBBackend;
}
declare module 'absurd-sql/dist/indexeddb-main-thread' {
  export function initBackend(worker: Worker): void;
}

declare module '@electric-sql/pglite' {
  export interface PGliteTransaction {
    query(sql: string, parameters: unknown[]): Promise<unknown>;
  }
  export class PGlite {
    constructor(options: { fs: unknown; relaxedDurability: boolean });
    readonly waitReady: Promise<void>;
    exec(sql: string): Promise<unknown>;
    query<Row>(sql: string, parameters: unknown[]): Promise<{ rows: Row[] }>;
    transaction(body: (transaction: PGliteTransaction) => Promise<void>): Promise<unknown>;
    close(): Promise<void>;
  }
}
declare module '@electric-sql/pglite/opfs-ahp' {
  export const OpfsAhpFS: new (path: string) => unknown;
}

declare module '@powersync/web' {
  export class Schema {
    constructor(tables: readonly never[]);
  }
  export class PowerSyncDatabase {
    constructor(options: {
      schema: Schema;
      database: { dbFilename: string; vfs: string; worker: string };
      sync: { worker: string };
    });
    init(): Promise<void>;
    execute(sql: string, parameters?: unknown[]): Promise<unknown>;
    watch(
      sql: string,
      parameters: unknown[],
      handler: { onResult(): void },
      options: { signal: AbortSignal; throttleMs: number },
    ): void;
    getAll<Row>(sql: string, parameters: unknown[]): Promise<Row[]>;
    writeTransaction(
      body: (transaction: { executeBatch(sql: string, parameters: unknown[][]): Promise<unknown> }) => Promise<void>,
    ): Promise<void>;
    close(): Promise<void>;
  }
}
