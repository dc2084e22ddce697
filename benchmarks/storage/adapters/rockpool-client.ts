// Our SDK as an app's page uses it. Unless `local` is set, writes are captured for a server that does not exist.
import {
  integer,
  real,
  sqliteTable,
  text,
} from '../../../packages/client/node_modules/drizzle-orm/sqlite-core/index.js';
import { createClient, type Client, type SqlStatement } from '../../../packages/client/src/index.ts';
import { defineSchema } from '../../../packages/client/src/schema/index.ts';
import { SELECT_RANGE, sqlOperations, type SqlDatabase, type SqlParameter, type SqlRow } from '../sql-operations.ts';
import type { OpenedDatabase, Settings } from './adapter.ts';

const kv = sqliteTable('kv', { key: text().primaryKey().notNull(), value: real() });
const single = sqliteTable('single', { key: text().primaryKey().notNull(), value: real() });
// A local table, because the app numbers its rows and a synced table does not allow that.
const person = sqliteTable('person', {
  id: integer().primaryKey(),
  name: text(),
  city: text(),
  note: text(),
  points: integer(),
  balance: real(),
});

export async function open(database: string, settings: Settings): Promise<OpenedDatabase> {
  const tables = { kv, single, person };
  const schema = defineSchema(tables, { local: settings['local'] === true ? Object.values(tables) : [person] });
  const client = await createClient({ name: database, schema });
  return {
    operations: {
      ...sqlOperations(new ClientDatabase(client)),
      createTables: () => undefined, // The client creates the tables from its schema.
      async watchKeyValues(queries, onChange) {
        const stops = queries.map(({ fromKey, limit }, index) =>
          client.live(SELECT_RANGE, [fromKey, limit]).subscribe(({ loading, error }) => {
            if (error !== null) throw error;
            if (!loading) onChange(index);
          }),
        );
        return () => {
          for (const stop of stops) stop();
        };
      },
    },
  };
}

class ClientDatabase implements SqlDatabase {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  async exec(sql: string): Promise<void> {
    await this.#client.execute(sql);
  }

  async run(sql: string, parameters: readonly SqlParameter[]): Promise<void> {
    await this.#client.execute(sql, parameters);
  }

  async runMany(sql: string, parameterLists: readonly (readonly SqlParameter[])[]): Promise<void> {
    await this.#client.batch(parameterLists.map((params): SqlStatement => ({ sql, params })));
  }

  rows(sql: string, parameters: readonly SqlParameter[] = []): Promise<SqlRow[]> {
    return this.#client.query(sql, parameters);
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}
