import { createHash } from 'node:crypto';

/** One of several PostgreSQL databases that each store a share of a server's databases. */
export interface Shard {
  /** Its name in the directory: 1 to 32 lowercase letters, digits and `-`. Must not change when the URL changes. */
  readonly name: string;
  /** `postgresql://user:password@host/name` */
  readonly url: string;
  /** Its share of new databases, relative to the others. 0 for none. Default 1. */
  readonly weight?: number | undefined;
}

/** One PostgreSQL database, or several: the first one also has the directory and the members. */
export type PostgresSource = string | readonly Shard[];

const NAME = /^[a-z0-9-]{1,32}$/;

/** Returns the problems of a list of shards. Never quotes a URL, because it may contain a password. */
export function shardProblems(shards: readonly Shard[]): string[] {
  const problems: string[] = [];
  if (shards.length === 0) problems.push('the list is empty');
  const names = new Set<string>();
  for (const [i, { name, url, weight = 1 }] of shards.entries()) {
    const label = NAME.test(String(name)) ? name : `entry ${i + 1}`;
    if (label !== name) problems.push(`${label}: the name must have 1 to 32 lowercase letters, digits and -`);
    else if (names.has(name)) problems.push(`${name}: two entries have this name`);
    names.add(name);
    const { protocol = '' } = URL.canParse(url) ? new URL(url) : {};
    if (protocol !== 'postgresql:' && protocol !== 'postgres:')
      problems.push(`${label}: the url must look like postgresql://user@host/name`);
    if (!(Number.isFinite(weight) && weight >= 0)) problems.push(`${label}: the weight must be a number of at least 0`);
  }
  if (problems.length === 0 && shards.every(({ weight = 1 }) => weight === 0))
    problems.push('every weight is 0, so no shard can take new databases; raise one');
  return problems;
}

/**
 * The shards in the order in which they should take a new database. Weighted rendezvous hashing puts each shard first
 * for a share of the ids that is proportional to its weight. Shards with weight 0 are omitted.
 */
export function rankShards<Weighted extends Pick<Shard, 'name' | 'weight'>>(
  databaseId: string,
  shards: readonly Weighted[],
): Weighted[] {
  return shards
    .filter(({ weight = 1 }) => weight > 0)
    .map((shard) => ({ shard, score: -(shard.weight ?? 1) / Math.log(unitHash(`${databaseId} ${shard.name}`)) }))
    .sort((a, b) => b.score - a.score)
    .map(({ shard }) => shard);
}

/** A pseudorandom number that depends on the text, between 0 and 1, both excluded. */
function unitHash(text: string): number {
  return (createHash('sha256').update(text).digest().readUInt32BE(0) + 0.5) / 2 ** 32;
}
