import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** A member who accepted an invitation to a budget. */
export interface Person {
  /** The author of the member's changes; the sync server stores the role under this name. */
  readonly principal: string;
  /** Display name, as the member entered it. */
  readonly name: string;
  readonly joinedAtMs: number;
}

/** Members by budget, each with their own key, so that one can be revoked without affecting the others. */
export interface People {
  /** Adds a member with their key, which is stored as a hash. Repeating the call changes nothing. */
  add(databaseId: string, person: Person, key: string): void;
  /** The member whose key this is; undefined for an unknown key. */
  ofKey(databaseId: string, key: string): Person | undefined;
  list(databaseId: string): readonly Person[];
  /**
   * Stores the name that a principal gave with its latest token request. An owner's devices are not in the member list,
   * but other users see who wrote.
   */
  rememberAuthor(databaseId: string, principal: string, name: string): void;
  authors(databaseId: string): readonly Author[];
  close(): void;
}

/** A principal that authors changes, with a display name. */
export interface Author {
  readonly principal: string;
  readonly name: string;
}

/**
 * The principal of the member with this key. It is derived from the key, so that only the holder of a key can join
 * under its principal, and a device that repeats a request stays the same member. It does not reveal the key, which has
 * 256 random bits.
 */
export function principalOfKey(key: string): string {
  return `person-${createHash('sha256').update(`principal of ${key}`).digest('hex').slice(0, 32)}`;
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
    ) STRICT;
    CREATE TABLE IF NOT EXISTS author (
      database_id TEXT NOT NULL,
      principal TEXT NOT NULL,
      name TEXT NOT NULL,
      PRIMARY KEY (database_id, principal)
    ) STRICT`);
  const insert = db.prepare(
    'INSERT INTO person (database_id, principal, key_sha256, name, joined_at_ms) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const byKey = db.prepare(
    'SELECT principal, name, joined_at_ms AS joinedAtMs FROM person WHERE database_id = ? AND key_sha256 = ?',
  );
  const all = db.prepare(
    'SELECT principal, name, joined_at_ms AS joinedAtMs FROM person WHERE database_id = ? ORDER BY joined_at_ms, principal',
  );
  const setAuthor = db.prepare(
    'INSERT INTO author (database_id, principal, name) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET name = excluded.name WHERE name <> excluded.name',
  );
  const allAuthors = db.prepare('SELECT principal, name FROM author WHERE database_id = ? ORDER BY principal');
  return {
    add: (databaseId, { principal, name, joinedAtMs }, key) =>
      void insert.run(databaseId, principal, sha256(key), name, joinedAtMs),
    // A look-up by hash leaks no timing information about the key.
    ofKey: (databaseId, key) => byKey.get(databaseId, sha256(key)) as Person | undefined,
    list: (databaseId) => all.all(databaseId) as unknown as Person[],
    rememberAuthor: (databaseId, principal, name) => void setAuthor.run(databaseId, principal, name),
    authors: (databaseId) => allAuthors.all(databaseId) as unknown as Author[],
    close: () => db.close(),
  };
}

function sha256(text: string): Uint8Array {
  return createHash('sha256').update(text).digest();
}
