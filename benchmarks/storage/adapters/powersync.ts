// @powersync/web, not connected, on plain tables. Its API is on the page; its worker is the prebuilt one from its
// package.
import { PowerSyncDatabase, Schema } from '@powersync/web';
import { POWERSYNC_WORKER_PATH } from '../../harness/served-paths.ts';
import { SELECT_RANGE, sqlOperations, type SqlDatabase, type SqlParameter, type SqlRow } from '../sql-operations.ts';
import type { OpenedDatabase, Settings } from './adapter.ts';

export async function open(database: string, settings: Settings): Promise<OpenedDatabase> {
  const worker = `${POWERSYNC_WORKER_PATH}worker.js`;
  const opened = new PowerSyncDatabase({
    schema: new Schema([]),
    database: { dbFilename: `${database}.db`, vfs: String(settings['vfs']), worker },
    sync: { worker },
  });
  await opened.init();
  return {
    operations: {
      ...sqlOperations(new PowerSyncAdapter(opened)),
      async watchKeyValues(queries, onChange) {
        const stopping = new AbortController();
        for (const [index, { fromKey, limit }] of queries.entries()) {
          // PowerSync waits 30 ms by default before it queries again.
          opened.watch(
            SELECT_RANGE,
            [fromKey, limit],
            { onResult: () => onChange(index) },
            { signal: stopping.signal, throttleMs: 0 },
          );
        }
        return () => stopping.abort();
      },
    },
  };
}

class PowerSyncAdapter implements SqlDatabase {
  readonly #database: PowerSyncDatabase;

  constructor(database: PowerSyncDatabase) {
    this.#database = database;
  }

  async exec(sql: string): Promise<void> {
    await this.#database.execute(sql);
  }

  async run(sql: string, parameters: readonly SqlParameter[]): Promise<void> {
    await this.#database.execute(sql, [...parameters]);
  }

  async runMany(sql: string, parameterLists: readonly (readonly SqlParameter[])[]): Promise<void> {
    await this.#database.writeTransaction(async (transaction) => {
      await transaction.executeBatch(
        sql,
        parameterLists.map((parameters) => [...parameters]),
      );
    });
  }

  rows(sql: string, parameters: readonly SqlParameter[] = []): Promise<SqlRow[]> {
    return this.#database.getAll(sql, [...parameters]);
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}
