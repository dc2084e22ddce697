import type { Size } from './operations.ts';

export type SizeName = 'quick' | 'deep';

/** `quick` keeps 300 histories within two minutes on two processors; `deep` is for when there is time. */
export const SIZES: Readonly<Record<SizeName, Size>> = {
  quick: { devices: [3, 8], operations: [200, 240] },
  deep: { devices: [3, 8], operations: [200, 600] },
};
