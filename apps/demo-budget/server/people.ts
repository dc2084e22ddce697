import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Somebody who was invited to a budget and came. */
export interface Person {
  /** By which their changes are signed, and their role is kept by the sync server. */
  readonly principal: string;
  /** As they call themselves. */
  readonly name: string;
  readonly joinedAtMs: number;
}

/**
 * Who was invited to which budget, each with a key of their own: so it can be taken back from one without the others
 * noticing.
 */
export interface People {
  /** Gives the key by which the person is known from now on. Keys are kept as hashes. */
  add(databaseId: string, person: Person): string;
  /** Whose key it is; undefined where it is nobody's. */
  ofKey(databaseId: string, key: string): Person | undefined;
  list(databaseId: string): readonly Person[];
  close(): void;
}

/** Random, so that nobody is ever mistaken for somebody who was removed. */
export function newPrincipal(): string {
  return `person-${randomBytes(8).toString('hex')}`;
}

export function openPeople(dataFolder: string): People {
  const db = new DatabaseSync(join(dataFolder, 'people.sqlite'));
  db.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE IF NOT EXISTS person (
      database_id TEXT NOT NULL,
      principal TEXT NOT NULL,
      key_sha256 BLOB NOT NULL, -- a random key of 256 bits needs no slow hash
      name TEXT NOT NULL,
      joined_at_ms INTEGER NOT NULL,
      PRIMARY KEY (database_id, key_sha256)
    ) STRICT`);
  const insert = db.prepare(
    'INSERT INTO person (database_id, principal, key_sha256, name, joined_at_ms) VALUES (?, ?, ?, ?, ?)',
  );
  const byKey = db.prepare(
    'SELECT principal, name, joined_at_ms AS joinedAtMs FROM person WHERE database_id = ? AND key_sha256 = ?',
  );
  const all = db.prepare(
    'SELECT principal, name, joined_at_ms AS joinedAtMs FROM person WHERE database_id = ? ORDER BY joined_at_ms, principal',
  );
  return {
    add(databaseId, { principal, name, joinedAtMs }) {
      const key = randomBytes(32).toString('base64url');
      insert.run(databaseId, principal, sha256(key), name, joinedAtMs);
      return key;
    },
    // A look-up by hash gives no time away that would help to find a key.
    ofKey: (databaseId, key) => byKey.get(databaseId, sha256(key)) as Person | undefined,
    list: (databaseId) => all.all(databaseId) as unknown as Person[],
    close: () => db.close(),
  };
}

function sha256(text: string): Uint8Array {
  return createHash('sha256').update(text).digest();
}
