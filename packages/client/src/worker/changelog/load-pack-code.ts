import { RockpoolError } from '@rockpool/shared';
import { loadPart } from '../../load-part.ts';

type PackCode = typeof import('./pack-changesets.ts');

let loaded: PackCode | null = null;

/** Loads the code that packs and unpacks changesets, once. Await it after opening a database that has packs. */
export async function loadPackCode(): Promise<void> {
  loaded ??= await loadPart('packs', () => import('./pack-changesets.ts'));
}

export function isPackCodeLoaded(): boolean {
  return loaded !== null;
}

/** The loaded code. Call it only if there are packs, or `isPackCodeLoaded`. */
export function packCode(): PackCode {
  if (loaded === null) throw new RockpoolError('internal', { problem: 'the code for packs is not loaded' });
  return loaded;
}
