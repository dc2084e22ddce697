import { DatabaseSync } from 'node:sqlite';

/** The entries of `rockpool_meta` that a restore changes: the log epoch. */
const OF_THE_EPOCH = ['epoch', 'epoch_start', 'epochs_before'];

/** Every row of every table of a database file, except the log epoch. */
export function databaseRows(path: string): Record<string, unknown[]> {
  const database = new DatabaseSync(path, { readOnly: true, readBigInts: true });
  try {
    const tables = database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`).all();
    return Object.fromEntries(
      tables.map(({ name }) => [
        String(name),
        database
          .prepare(`SELECT * FROM "${String(name)}"`)
          .all()
          .filter((row) => name !== 'rockpool_meta' || !OF_THE_EPOCH.includes(String(row['name']))),
      ]),
    );
  } finally {
    database.close();
  }
}
