// Our storage in a worker, with the SDK's binding to SQLite: the layer below a client's database, without capture and
// sync.
import {
  openStorage,
  opfsExclusiveMedium,
  opfsSharedMedium,
  type Medium,
  type SqliteModule,
  type Storage,
} from '../../../packages/vfs-opfs/src/index.ts';
import { indexedDbMedium } from '../../../packages/vfs-opfs/src/media/indexeddb.ts';
import { rowsTransferables } from '../../../packages/client/src/rpc/rows-transfer.ts';
import { Connection } from '../../../packages/client/src/worker/sqlite/connection.ts';
import { encodeRows } from '../../../packages/client/src/worker/sqlite/encode-rows.ts';
import { loadSqlite } from '../../../packages/client/src/worker/sqlite/load-sqlite.ts';
import type { MaybePromise } from '../operations.ts';
import { SELECT_PEOPLE, sqlOperations, type SqlDatabase, type SqlParameter, type SqlRow } from '../sql-operations.ts';
import type { OpenedDatabase, Role, Settings } from './adapter.ts';

export async function open(database: string, settings: Settings, role: Role): Promise<OpenedDatabase> {
  const medium = mediumOf(settings);
  const [storage, runtime] = await Promise.all([
    openStorage({
      name: database,
      medium,
      role,
      durability: settings['durability'] === 'strict' ? 'strict' : 'relaxed',
    }),
    loadSqlite(),
  ]);
  storage.register(runtime.module as unknown as SqliteModule);
  const connection = new Connection(runtime, {
    path: storage.path,
    vfsName: storage.vfsName,
    readOnly: role === 'reader',
  });
  connection.exec(
    `PRAGMA page_size = ${settings['pageSizeBytes'] ?? 8192}; PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY`,
  );
  return {
    operations: sqlOperations(new RockpoolDatabase(connection, storage, settings['isLazy'] === true)),
    packPeople(count) {
      const statement = connection.prepare(SELECT_PEOPLE);
      statement.bindParams([count]);
      const packed = encodeRows(statement);
      statement.release();
      return { packed, transfer: rowsTransferables(packed) };
    },
  };
}

function mediumOf(settings: Settings): Medium {
  switch (settings['medium']) {
    case 'indexeddb':
      return typeof settings['extentBytes'] === 'number'
        ? indexedDbMedium({ extentBytes: settings['extentBytes'] })
        : indexedDbMedium();
    case 'opfs-exclusive':
      return opfsExclusiveMedium();
    default:
      return opfsSharedMedium();
  }
}

class RockpoolDatabase implements SqlDatabase {
  readonly #connection: Connection;
  readonly #storage: Storage;
  readonly #acknowledgesInCommit: boolean;

  /** `isLazy`: on IndexedDB, commits do not wait until they are stored; closing does. */
  constructor(connection: Connection, storage: Storage, isLazy: boolean) {
    this.#connection = connection;
    this.#storage = storage;
    this.#acknowledgesInCommit = isLazy || storage.persistence !== 'indexeddb';
  }

  exec(sql: string): MaybePromise<void> {
    this.#connection.exec(sql);
    return this.#acknowledged();
  }

  run(sql: string, parameters: readonly SqlParameter[]): MaybePromise<void> {
    this.#connection.run(sql, ...parameters);
    return this.#acknowledged();
  }

  runMany(sql: string, parameterLists: readonly (readonly SqlParameter[])[]): MaybePromise<void> {
    this.#connection.exec('BEGIN');
    const statement = this.#connection.prepare(sql);
    for (const parameters of parameterLists) statement.run(...parameters);
    statement.release();
    this.#connection.exec('COMMIT');
    return this.#acknowledged();
  }

  rows(sql: string, parameters: readonly SqlParameter[] = []): SqlRow[] {
    const statement = this.#connection.prepare(sql);
    statement.bindParams(parameters);
    const rows: SqlRow[] = [];
    let names: string[] | undefined;
    while (statement.step()) {
      names ??= statement.columnNames();
      const row: SqlRow = {};
      for (let column = 0; column < names.length; column++) row[names[column] as string] = statement.readValue(column);
      rows.push(row);
    }
    statement.release();
    return rows;
  }

  async close(): Promise<void> {
    this.#connection.close();
    await this.#storage.close();
  }

  #acknowledged(): MaybePromise<void> {
    return this.#acknowledgesInCommit ? undefined : this.#storage.committed();
  }
}
