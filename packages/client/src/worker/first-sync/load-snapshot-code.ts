import { RockpoolError } from '@rockpool/shared';
import { loadPart } from '../../load-part.ts';

/** Loads the code that takes a snapshot. Throws `network-unreachable`. */
export async function loadSnapshotCode(): Promise<typeof import('./snapshot-code.ts')> {
  try {
    return await loadPart('snapshot', () => import('./snapshot-code.ts'));
  } catch (cause) {
    throw new RockpoolError('network-unreachable', { stage: 'snapshot-answer' }, { cause });
  }
}
