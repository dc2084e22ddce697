import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** What the server stores for a budget, read from the database file with plain SQL, bypassing the server. */
export interface ServerDatabase {
  /** One row, one column. */
  value(sql: string): unknown;
  rows(sql: string): Record<string, unknown>[];
}

/**
 * Reads the database file of the budget that a link opens, while the server runs or after it was killed. Each read sees
 * one consistent snapshot.
 */
export function serverDatabase(dataFolder: string, link: string): ServerDatabase {
  const databaseId = new URLSearchParams(new URL(link).hash.slice(1)).get('budget');
  const name = readdirSync(dataFolder, { recursive: true, encoding: 'utf8' }).find((path) =>
    path.endsWith(`db-${databaseId}.sqlite`),
  );
  if (name === undefined) throw new Error(`The server has no database file for budget ${databaseId}`);
  const look = (sql: string): Record<string, unknown>[] => {
    // Not read-only: after a kill, the first to open the file recovers its write-ahead log.
    const database = new DatabaseSync(join(dataFolder, name), { timeout: 5_000 });
    try {
      return database.prepare(sql).all() as Record<string, unknown>[];
    } finally {
      database.close();
    }
  };
  return {
    value: (sql) => Object.values(look(sql)[0] ?? {})[0],
    rows: look,
  };
}
