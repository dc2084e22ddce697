import type { Size } from './operations.ts';

export type SizeName = 'short' | 'quick' | 'deep';

/**
 * `quick`: 300 histories in two minutes on two processors. `short`: half the steps, in three fifths of the time, since
 * the beginning and the end of a history cost as much. `deep`: longer histories.
 */
export const SIZES: Readonly<Record<SizeName, Size>> = {
  short: { devices: [3, 8], operations: [100, 120] },
  quick: { devices: [3, 8], operations: [200, 240] },
  deep: { devices: [3, 8], operations: [200, 600] },
};

/** The size that a command's arguments name. Default: `quick`. Throws for an unknown name. */
export function sizeNamed(name: string = 'quick'): Size {
  const size = Object.entries(SIZES).find(([known]) => known === name)?.[1];
  if (size === undefined) throw new Error(`unknown size ${name}: one of ${Object.keys(SIZES).join(', ')}`);
  return size;
}
