/**
 * Where a database is kept:
 * - `opfs`: files of the origin, which every tab reads by itself (Chromium 121 and later)
 * - `opfs-exclusive`: the same files, which only the leading tab may open; the others read through it (Firefox, Safari)
 * - `indexeddb`: for browsers without such files; in the memory of the leading tab, and stored before a write resolves
 * - `memory`: of one tab, gone when it closes
 */
export type Persistence = 'opfs' | 'opfs-exclusive' | 'indexeddb' | 'memory';

/**
 * What an app may ask for. `durable`: the first of `opfs`, `opfs-exclusive` and `indexeddb` that this browser has, and
 * never `memory`.
 */
export type PersistenceChoice = 'durable' | Persistence;
