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
  /** Default: processes only die, and clients reach them by WebSockets alone. */
  readonly operated?: Operated;
}

/**
 * How an operator and a network treat the server's processes and its connections. In these histories pages show
 * presence, too.
 */
export interface Operated {
  /** Whether the network of a device blocks WebSockets, in turn. */
  readonly blocksSockets: readonly boolean[];
  /** Whether the app's own server issues JWTs, which a session renews, instead of opaque tokens. */
  readonly renewsTokens: boolean;
  /** Whether each check of a right takes time. */
  readonly isGateSlow: boolean;
}

/** The variant of regression files that do not name one. */
export const PLAIN: Variant = { isServerSlow: false };

/** More often shared files, which most browsers support. */
const MEDIA: readonly MediumKind[] = ['opfs', 'opfs', 'opfs', 'opfs-exclusive', 'indexeddb'];

const MOST_DEVICES = 8;

/** The share of histories in which an operator stops servers and takes databases offline. */
const OPERATED = 0.25;

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

/** Drawn from a stream of its own, so that all other seeds keep their histories. */
export function chooseOperated(random: Random): Pick<Variant, 'operated'> {
  if (!random.chance(OPERATED)) return {};
  return {
    operated: {
      blocksSockets: Array.from({ length: MOST_DEVICES }, () => random.chance(0.4)),
      renewsTokens: random.chance(0.5),
      isGateSlow: random.chance(0.5),
    },
  };
}
