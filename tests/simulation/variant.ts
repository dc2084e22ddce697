import type { MediumKind } from './device-storage.ts';
import type { AppVersion } from './household-schema.ts';
import type { Random } from './random.ts';

/** Properties of the machines in one history. */
export interface Variant {
  /** The server's disk syncs and document threads take time. */
  readonly isServerSlow: boolean;
  /** The number of server processes. Several processes share one PostgreSQL server. Default: 1. */
  readonly instances?: number;
  /** The storage of the devices, in turn. Default: shared OPFS. */
  readonly media?: readonly MediumKind[];
  /** Whether the app of a device asks for strict durability, in turn. Default: none does. */
  readonly strict?: readonly boolean[];
  /** The version of the app that each device begins with, in turn. Default: the newer one, and it never changes. */
  readonly apps?: readonly AppVersion[];
}

/** The variant of regression files that do not name one. */
export const PLAIN: Variant = { isServerSlow: false };

/** More often shared files, which most browsers support. */
const MEDIA: readonly MediumKind[] = ['opfs', 'opfs', 'opfs', 'opfs-exclusive', 'indexeddb'];

const MOST_DEVICES = 8;

/** More often one process with a file, which most apps run. */
const INSTANCES = [1, 1, 1, 1, 2, 3] as const;

/**
 * `restores`: the server is restored from a backup. A device that lost sent transactions in a power cut continues as
 * another site, and shows what it sends again to a restored server twice until the server responds. Only relaxed
 * IndexedDB loses what was sent, so no history combines it with restores.
 */
export function chooseVariant(random: Random, { restores }: { readonly restores: boolean }): Variant {
  const isServerSlow = random.chance(0.8);
  const media = Array.from({ length: MOST_DEVICES }, () => random.pick(MEDIA));
  const isStrict = random.chance(0.25);
  const strict = media.map((medium) => isStrict || (restores && medium === 'indexeddb'));
  const instances = random.pick(INSTANCES);
  const apps = random.chance(0.25) ? media.map(() => random.pick(['older', 'newer'] as const)) : undefined;
  return { isServerSlow, media, strict, instances, ...(apps === undefined ? {} : { apps }) };
}
