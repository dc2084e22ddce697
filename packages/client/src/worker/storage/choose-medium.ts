import { RockpoolError } from '@rockpool/shared';
import { loadPart } from '../../load-part.ts';
import { listStorages, memoryMedium, opfsExclusiveMedium, opfsSharedMedium, type Medium } from '@rockpool/vfs-opfs';
import type { Persistence, PersistenceChoice } from '../../rpc/persistence.ts';
import type { SqliteRuntime } from '../sqlite/sqlite-runtime.ts';

export interface ChosenMedium {
  readonly persistence: Persistence;
  readonly medium: Medium;
}

/** The SQLite and the media of a browser, or of a simulated device in Node. */
export interface StorageEnvironment {
  loadSqlite(): Promise<SqliteRuntime>;
  /** Throws like `chooseMedium`. */
  chooseMedium(choice: PersistenceChoice, name: string): Promise<ChosenMedium>;
  /** All media of this environment that keep databases. */
  places(): Promise<readonly ChosenMedium[]>;
}

/** The media and their availability, replaceable in tests. */
export interface Media {
  medium(persistence: Persistence): Promise<Medium>;
  /**
   * Whether this window has the file API but refuses to keep files, as a private window or a setting of the user may.
   */
  isEphemeral(): Promise<boolean>;
}

const IN_ORDER_OF_PREFERENCE = ['opfs', 'opfs-exclusive', 'indexeddb'] as const;

/**
 * Returns the medium that the app asked for, or the best durable one. A database that is already in IndexedDB, from a
 * time when this browser had no better storage, stays there, because it may hold unsent writes.
 *
 * Throws `storage-unsupported` with what is missing, and `storage-ephemeral` if the window refuses to keep files,
 * because IndexedDB would be lost with the window too. Never falls back to memory.
 */
export async function chooseMedium(
  choice: PersistenceChoice,
  name: string,
  media: Media = BROWSER_MEDIA,
): Promise<ChosenMedium> {
  if (choice !== 'durable') return { persistence: choice, medium: await media.medium(choice) };
  const refusing = media.isEphemeral();
  const missing: string[] = [];
  for (const persistence of IN_ORDER_OF_PREFERENCE) {
    const medium = await media.medium(persistence);
    const looking = medium.missing();
    // This also fails in a window that refuses files; the caller reports the refusal instead.
    looking.catch(() => undefined);
    if (await refusing) throw new RockpoolError('storage-ephemeral', { refused: 'origin-private file system' });
    const missingHere = await looking;
    if (missingHere.length > 0) missing.push(`${persistence}: ${missingHere.join(', ')}`);
    else return (await staysInIndexedDb(persistence, medium, name, media)) ?? { persistence, medium };
  }
  throw new RockpoolError('storage-unsupported', { missing: missing.join('; ') });
}

async function staysInIndexedDb(
  persistence: Persistence,
  medium: Medium,
  name: string,
  media: Media,
): Promise<ChosenMedium | null> {
  // Most databases are in files. IndexedDB is then not queried, because starting it would delay the opening.
  if (persistence === 'indexeddb' || (await listStorages(medium)).includes(name)) return null;
  const indexedDb = await media.medium('indexeddb');
  if ((await indexedDb.missing()).length > 0) return null;
  return (await listStorages(indexedDb)).includes(name) ? { persistence: 'indexeddb', medium: indexedDb } : null;
}

/** One instance per worker, so that a branch in memory is restored and opened on the same medium. */
let memory: Medium | undefined;

export const BROWSER_MEDIA: Media = {
  async medium(persistence) {
    switch (persistence) {
      case 'opfs':
        return opfsSharedMedium();
      case 'opfs-exclusive':
        return opfsExclusiveMedium();
      case 'indexeddb':
        // The least used part of the worker, so it is loaded on demand.
        return (await loadPart('indexeddb', () => import('@rockpool/vfs-opfs/indexeddb'))).indexedDbMedium();
      case 'memory':
        return (memory ??= memoryMedium());
    }
  },
  async isEphemeral() {
    if (navigator.storage?.getDirectory === undefined) return false;
    try {
      await navigator.storage.getDirectory();
      return false;
    } catch {
      return true;
    }
  },
};
