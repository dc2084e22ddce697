import type { Random } from './random.ts';

/** Properties of the machines in one history. */
export interface Variant {
  /** The server's disk syncs and document threads take time. */
  readonly isServerSlow: boolean;
}

/** The variant of regression files that do not name one. */
export const PLAIN: Variant = { isServerSlow: false };

export function chooseVariant(random: Random): Variant {
  return { isServerSlow: random.chance(0.8) };
}
