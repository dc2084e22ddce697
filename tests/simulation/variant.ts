import type { Random } from './random.ts';

/** What the machines of one history are like. */
export interface Variant {
  /** The server's syncs and its threads for documents take time. */
  readonly isServerSlow: boolean;
}

/** What regressions were found with that say nothing of it. */
export const PLAIN: Variant = { isServerSlow: false };

export function chooseVariant(random: Random): Variant {
  return { isServerSlow: random.chance(0.8) };
}
