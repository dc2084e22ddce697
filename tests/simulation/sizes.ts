import type { Size } from './operations.ts';

/** `quick` keeps 300 histories within a minute; `deep` is what a night is for. */
export const SIZES = {
  quick: { devices: [3, 4], operations: [60, 120] },
  deep: { devices: [3, 8], operations: [200, 600] },
} as const satisfies Record<string, Size>;
