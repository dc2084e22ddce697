import { RockpoolError } from '@rockpool/shared';
import { loadPart } from '../../load-part.ts';

type ChangelogCode = typeof import('./changelog-code.ts');

let loaded: ChangelogCode | null = null;

/**
 * Loads the code of packs, of the lists of changesets and of the sync state of rows, once. Await it after opening a
 * database that has packs, and before these reads.
 */
export async function loadChangelogCode(): Promise<void> {
  loaded ??= await loadPart('changelog', () => import('./changelog-code.ts'));
}

export function isChangelogCodeLoaded(): boolean {
  return loaded !== null;
}

/** The loaded code. Call it only if there are packs, after `loadChangelogCode`, or if `isChangelogCodeLoaded`. */
export function changelogCode(): ChangelogCode {
  if (loaded === null) throw new RockpoolError('internal', { problem: 'the code of the changelog is not loaded' });
  return loaded;
}
