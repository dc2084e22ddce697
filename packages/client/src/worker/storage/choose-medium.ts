import { RockpoolError } from '@rockpool/shared';
import { listStorages, memoryMedium, opfsExclusiveMedium, opfsSharedMedium, type Medium } from '@rockpool/vfs-opfs';
import type { Persistence, PersistenceChoice } from '../../rpc/persistence.ts';

export interface ChosenMedium {
  readonly persistence: Persistence;
  readonly medium: Medium;
}

/** Every medium, and what is missing here for it. */
export interface Media {
  medium(persistence: Persistence): Promise<Medium>;
  /** Whether this window has files of its origin and refuses to keep any: a private window, or a person's choice. */
  isEphemeral(): Promise<boolean>;
}

const IN_ORDER_OF_PREFERENCE = ['opfs', 'opfs-exclusive', 'indexeddb'] as const;

/**
 * What the app asked for, or the best that lasts. A database that is already in IndexedDB, because this browser had
 * nothing better once, stays there: its unsent writes are in it.
 *
 * Throws `storage-unsupported` with what is missing, and `storage-ephemeral` where the window refuses to keep files:
 * then IndexedDB would vanish with it too. Nothing here ever turns to memory.
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
    looking.catch(() => undefined); // A window that refuses files fails here too; that it refuses is what is told.
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
  // Where it is among the files already, as it mostly is, IndexedDB is not asked: starting that up would keep the
  // database from opening.
  if (persistence === 'indexeddb' || (await listStorages(medium)).includes(name)) return null;
  const indexedDb = await media.medium('indexeddb');
  if ((await indexedDb.missing()).length > 0) return null;
  return (await listStorages(indexedDb)).includes(name) ? { persistence: 'indexeddb', medium: indexedDb } : null;
}

export const BROWSER_MEDIA: Media = {
  async medium(persistence) {
    switch (persistence) {
      case 'opfs':
        return opfsSharedMedium();
      case 'opfs-exclusive':
        return opfsExclusiveMedium();
      case 'indexeddb':
        // Of all that a worker is made of, the least often needed: it comes when it is.
        return (await import('@rockpool/vfs-opfs/indexeddb')).indexedDbMedium();
      case 'memory':
        return memoryMedium();
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
