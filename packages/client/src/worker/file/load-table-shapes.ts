import { RockpoolError } from '@rockpool/shared';
import { loadPart } from '../../load-part.ts';

type TableShapes = typeof import('./table-shape.ts');

let loaded: TableShapes | null = null;

/** Loads the code that compares migrated tables, once. Await it before opening a database with migrations. */
export async function loadTableShapes(): Promise<void> {
  loaded ??= await loadPart('table-shapes', () => import('./table-shape.ts'));
}

/** The loaded code. Call it only for an app with migrations. */
export function tableShapes(): TableShapes {
  if (loaded === null) throw new RockpoolError('internal', { problem: 'the code for table shapes is not loaded' });
  return loaded;
}
