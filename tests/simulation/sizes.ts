import type { Size } from './operations.ts';

export type SizeName = 'quick' | 'deep';

/** `quick` keeps 300 histories within a minute on two processors; `deep` is for when there is time. */
export const SIZES: Readonly<Record<SizeName, Size>> = {
  quick: { devices: [3, 4], operations: [60, 120] },
  deep: { devices: [3, 8], operations: [200, 600] },
};
