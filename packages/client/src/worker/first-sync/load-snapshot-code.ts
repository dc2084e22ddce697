import { RockpoolError } from '@rockpool/shared';

/** Loads the code that takes a snapshot. Throws `network-unreachable`. */
export async function loadSnapshotCode(): Promise<typeof import('./snapshot-code.ts')> {
  try {
    return await import('./snapshot-code.ts');
  } catch (cause) {
    throw new RockpoolError('network-unreachable', { stage: 'snapshot-answer' }, { cause });
  }
}
