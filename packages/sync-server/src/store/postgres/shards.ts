import { RockpoolError } from '@rockpool/shared';
import { type Connections, NAMESPACE } from '../../postgres/connection.ts';
import type { Shard } from '../../postgres/shard.ts';
import { Directory } from './directory.ts';
import type { PostgresStore } from './postgres-store.ts';

/** One shard with its store. */
export interface OpenShard extends Shard {
  readonly connections: Connections;
  readonly store: PostgresStore;
}

/** A shard is registered under this name with a different store. */
const OTHER_STORE = 'its url now leads to a different PostgreSQL database';

/** The shards of a server: their stores, and the directory at the first of them. */
export class Shards {
  readonly all: readonly OpenShard[];
  readonly first: OpenShard;
  readonly directory: Directory;
  /** If true, shards are checked but not registered, and no database is placed. */
  readonly isReadOnly: boolean;
  private registering: Promise<void> | null = null;
  private readonly registered = new Set<string>();

  constructor(all: readonly OpenShard[], { isReadOnly = false }: { readonly isReadOnly?: boolean } = {}) {
    this.isReadOnly = isReadOnly;
    this.all = all;
    this.first = all[0] as OpenShard;
    this.directory = new Directory(this.first.connections);
  }

  /** Throws `database-unavailable` if this instance does not have the shard. */
  get(name: string): OpenShard {
    const shard = this.all.find((one) => one.name === name);
    if (shard === undefined)
      throw new RockpoolError('database-unavailable', {
        problem: 'the list of shards of this instance lacks the shard of the database',
        shard: name,
      });
    return shard;
  }

  /**
   * Resolves once the first shard can be used and every other one that responds is registered. Throws `config-invalid`
   * if the list does not fit what is stored.
   */
  ready(): Promise<void> {
    this.registering ??= this.register().catch((error: unknown) => {
      this.registering = null;
      throw error;
    });
    return this.registering;
  }

  /** Registers the shards again: an instance with an older list has removed one that has no databases. */
  registerAgain(): Promise<void> {
    this.registering = null;
    this.registered.clear();
    return this.ready();
  }

  /** Throws `database-unavailable` while the shard does not respond or is not registered. */
  async use(name: string): Promise<OpenShard> {
    const shard = this.get(name);
    if (!this.registered.has(name)) {
      const problem = await this.registerShard(shard, await this.first.store.storeId());
      if (problem !== null) throw new RockpoolError('database-unavailable', { problem, shard: name });
    }
    return shard;
  }

  /** The caller closes the connections. */
  async closeStores(): Promise<void> {
    // The folder of the first shard contains those of the other shards.
    for (const { store } of this.all.toReversed()) await store.close();
  }

  private async register(): Promise<void> {
    const { first, directory } = this;
    const home = await first.store.storeId();
    const problems: string[] = [];
    const known = new Set(this.all.map(({ name }) => name));
    const counts = await directory.counts();
    for (const name of (await directory.shards()).keys()) {
      if (known.has(name)) continue;
      if ((counts.get(name) ?? 0) > 0)
        problems.push(`the shard ${name} is missing: it has ${counts.get(name)} databases`);
      else if (!this.isReadOnly) await directory.unregister(name);
    }
    for (const shard of this.all) {
      try {
        const problem = await this.registerShard(shard, home);
        if (problem !== null) problems.push(`${shard.name}: ${problem}`);
      } catch (error) {
        // If any other shard does not respond, only its own databases are offline.
        if (shard === first || !isUnavailable(error)) throw error;
      }
    }
    if (problems.length > 0)
      throw new RockpoolError('config-invalid', { count: problems.length, problems: problems.join('\n') });
  }

  /** Returns why the shard cannot be one of this list, or null. */
  private async registerShard({ name, store, connections }: OpenShard, home: string): Promise<string | null> {
    const storeId = await store.storeId();
    const stored = await this.directory.shards();
    if (stored.has(name) && stored.get(name) !== storeId) return OTHER_STORE;
    const other = [...stored].find(([one, id]) => id === storeId && one !== name);
    if (other !== undefined) return `its url leads to the same PostgreSQL database as that of ${other[0]}`;
    const directoryId = await store.directoryId();
    if (directoryId !== null && directoryId !== home)
      return 'it belongs to the shards of another first shard: the first entry of the list must stay the first';
    if (!stored.has(name)) {
      const ids = await store.list();
      const conflicts = this.isReadOnly
        ? (await this.directory.elsewhere(ids, name)).size
        : await this.directory.register(name, storeId, ids);
      if (conflicts > 0) return `${conflicts} of its databases have ids that another shard also has`;
    }
    if (!this.isReadOnly)
      await connections.query(`UPDATE ${NAMESPACE}.rockpool_store SET directory = $1 WHERE directory IS NULL`, [home]);
    this.registered.add(name);
    return null;
  }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof RockpoolError && error.code === 'database-unavailable';
}
