import { RockpoolError } from '@rockpool/shared';
import { loadPart } from '../../load-part.ts';

type ChangelogCode = typeof import('./changelog-code.ts');

let loaded: ChangelogCode | null = null;

/**
 * Loads the code of packs, of the lists of changesets, of the sync state of rows and of a change of the site id, once.
 * Await it after opening a database that has packs, and before these reads.
 */
export async function loadChangelogCode(): Promise<void> {
  loaded ??= await loadPart('changelog', () => import('./changelog-code.ts'));
}

export function isChangelogCodeLoaded(): boolean {
  return loaded !== null;
}

/** The loaded code. Throws `code-unloadable` if it is not loaded yet, and loads it for the next call. */
export function changelogCode(): ChangelogCode {
  if (loaded === null) {
    loadChangelogCode().catch(() => undefined);
    throw new RockpoolError('code-unloadable', { part: 'changelog' });
  }
  return loaded;
}
