// PGlite in our worker, on its pool of access handles: PostgreSQL's dialect, 500 rows per INSERT.
import { PGlite, type PGliteTransaction } from '@electric-sql/pglite';
import { OpfsAhpFS } from '@electric-sql/pglite/opfs-ahp';
import { sqlOperations, type Dialect, type SqlDatabase, type SqlParameter, type SqlRow } from '../sql-operations.ts';
import type { OpenedDatabase, Settings } from './adapter.ts';

const ROWS_PER_INSERT = 500;

const POSTGRES: Dialect = {
  binaryDocumentType: 'JSONB',
  insertBinaryDocument: 'INSERT INTO binary_document VALUES (?, ?::jsonb)',
  isOpenDocument: `json::json->>'status' = 'open' AND (json::json->>'amount')::float8 > 500`,
  isOpenBinaryDocument: `json->>'status' = 'open' AND (json->>'amount')::float8 > 500`,
};

export async function open(database: string, settings: Settings): Promise<OpenedDatabase> {
  const opened = new PGlite({
    fs: new OpfsAhpFS(`pglite-${database}`),
    relaxedDurability: settings['relaxed'] === true,
  });
  await opened.waitReady;
  return { operations: sqlOperations(new PGliteDatabase(opened), POSTGRES) };
}

class PGliteDatabase implements SqlDatabase {
  readonly #database: PGlite;

  constructor(database: PGlite) {
    this.#database = database;
  }

  async exec(sql: string): Promise<void> {
    await this.#database.exec(sql);
  }

  async run(sql: string, parameters: readonly SqlParameter[]): Promise<void> {
    await this.#database.query(numbered(sql), [...parameters]);
  }

  async runMany(sql: string, parameterLists: readonly (readonly SqlParameter[])[]): Promise<void> {
    await this.#database.transaction(async (transaction) => {
      const [head, values] = sql.split(' VALUES ');
      if (values === undefined) {
        for (const parameters of parameterLists) await transaction.query(numbered(sql), [...parameters]);
      } else {
        await insertInBatches(transaction, `${head} VALUES `, values, parameterLists);
      }
    });
  }

  async rows(sql: string, parameters: readonly SqlParameter[] = []): Promise<SqlRow[]> {
    return (await this.#database.query<SqlRow>(numbered(sql), [...parameters])).rows;
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}

async function insertInBatches(
  transaction: PGliteTransaction,
  head: string,
  values: string,
  parameterLists: readonly (readonly SqlParameter[])[],
): Promise<void> {
  for (let start = 0; start < parameterLists.length; start += ROWS_PER_INSERT) {
    const batch = parameterLists.slice(start, start + ROWS_PER_INSERT);
    await transaction.query(numbered(head + batch.map(() => values).join(', ')), batch.flat());
  }
}

/** Replaces each `?` by `$1`, `$2`, … */
function numbered(sql: string): string {
  let count = 0;
  return sql.replaceAll('?', () => `$${++count}`);
}
