import type { Size } from './operations.ts';

export type SizeName = 'quick' | 'deep';

/** `quick`: 300 histories in two minutes on two processors. `deep`: longer histories. */
export const SIZES: Readonly<Record<SizeName, Size>> = {
  quick: { devices: [3, 8], operations: [200, 240] },
  deep: { devices: [3, 8], operations: [200, 600] },
};
