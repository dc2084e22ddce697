import type { MediumKind } from './device-storage.ts';
import type { Random } from './random.ts';

/** Properties of the machines in one history. */
export interface Variant {
  /** The server's disk syncs and document threads take time. */
  readonly isServerSlow: boolean;
  /** The storage of the devices, in turn. Default: shared OPFS. */
  readonly media?: readonly MediumKind[];
  /** Whether the app of a device asks for strict durability, in turn. Default: none does. */
  readonly strict?: readonly boolean[];
}

/** The variant of regression files that do not name one. */
export const PLAIN: Variant = { isServerSlow: false };

/** Shared files are what most browsers have. */
const MEDIA: readonly MediumKind[] = ['opfs', 'opfs', 'opfs', 'opfs-exclusive', 'indexeddb'];

const MOST_DEVICES = 8;

/**
 * `restores`: the server is restored from a backup. A device that lost sent transactions in a power cut continues as
 * another site, and shows what it returns to a restored server twice until the server answers. Only relaxed IndexedDB
 * loses what was sent, so no history has both.
 */
export function chooseVariant(random: Random, { restores }: { readonly restores: boolean }): Variant {
  const isServerSlow = random.chance(0.8);
  const media = Array.from({ length: MOST_DEVICES }, () => random.pick(MEDIA));
  const isStrict = random.chance(0.25);
  return { isServerSlow, media, strict: media.map((medium) => isStrict || (restores && medium === 'indexeddb')) };
}
