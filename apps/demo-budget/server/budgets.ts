import { createHash, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Maps share keys to budgets. Keys are stored as hashes: reading the file does not give access to a budget. */
export interface Budgets {
  /**
   * Trusts the first key: an unknown budget is registered with it. Browsers create budgets without a server; an id has
   * 128 random bits, so only people who were given the budget's link could register it first.
   */
  register(databaseId: string, shareKey: string): 'registered' | 'known' | 'key-refused';
  check(databaseId: string, shareKey: string): 'known' | 'key-refused' | 'unknown';
  close(): void;
}

export function openBudgets(dataFolder: string): Budgets {
  const db = new DatabaseSync(join(dataFolder, 'budgets.sqlite'));
  db.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE IF NOT EXISTS budget (
      database_id TEXT PRIMARY KEY NOT NULL,
      key_sha256 BLOB NOT NULL, -- a random key of 256 bits needs no slow hash
      registered_at_ms INTEGER NOT NULL
    ) STRICT`);
  const select = db.prepare('SELECT key_sha256 FROM budget WHERE database_id = ?');
  const insert = db.prepare(
    'INSERT INTO budget (database_id, key_sha256, registered_at_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  );

  const check = (databaseId: string, shareKey: string): 'known' | 'key-refused' | 'unknown' => {
    const stored = select.get(databaseId)?.['key_sha256'];
    if (!(stored instanceof Uint8Array)) return 'unknown';
    return timingSafeEqual(stored, sha256(shareKey)) ? 'known' : 'key-refused';
  };

  return {
    check,
    register(databaseId, shareKey) {
      const { changes } = insert.run(databaseId, sha256(shareKey), Date.now());
      if (Number(changes) === 1) return 'registered';
      return check(databaseId, shareKey) === 'known' ? 'known' : 'key-refused';
    },
    close: () => db.close(),
  };
}

function sha256(text: string): Uint8Array {
  return createHash('sha256').update(text).digest();
}
