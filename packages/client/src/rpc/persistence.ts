/**
 * Where a database is stored:
 * - `opfs`: files of the origin that every tab reads itself (Chromium 121 and later)
 * - `opfs-exclusive`: the same files, opened only by the leader; other tabs read through it (Firefox, Safari)
 * - `indexeddb`: for browsers without such files. The leader holds the database in memory and stores each write before
 *   it resolves
 * - `memory`: in one tab, lost when it closes
 */
export type Persistence = 'opfs' | 'opfs-exclusive' | 'indexeddb' | 'memory';

/**
 * The storage that an app may request. `durable`: the first of `opfs`, `opfs-exclusive` and `indexeddb` that the
 * browser supports, and never `memory`.
 */
export type PersistenceChoice = 'durable' | Persistence;
