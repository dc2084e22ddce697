import { RockpoolError } from '@rockpool/shared';
import type { DatabaseOutline } from '../database-outline.ts';
import type { OpenDatabase } from '../durability.ts';
import type { Readiness, Store, StoreEvents } from '../store.ts';
import { DatabaseMarked, type MoveMark } from './move-mark.ts';
import type { OpenShard, Shards } from './shards.ts';

/**
 * How long a server that accepts connections may take to respond before it counts as unavailable. The others stay
 * ready.
 */
const SHARD_ANSWER_MS = 2_000;

/**
 * The maximum number of lookups of a database. If the database moves during a lookup, a second one is needed; in
 * practice, never a third.
 */
const LOOKUPS = 5;

/**
 * Stores databases in several PostgreSQL servers, each database in one of them. Any instance opens any database,
 * because the directory names its shard.
 */
export class ShardedStore implements Store {
  private readonly shards: Shards;
  // Where databases were when they were last opened. If a database has moved since, the mark at that shard shows it.
  private readonly known = new Map<string, string>();
  private readonly states = new Map<string, Readiness>();

  constructor(shards: Shards) {
    this.shards = shards;
  }

  async open(databaseId: string, events: StoreEvents): Promise<OpenDatabase> {
    await this.shards.ready();
    for (let lookup = 1; ; lookup++) {
      const shard = await this.shardOf(databaseId);
      try {
        return await shard.store.open(databaseId, events);
      } catch (error) {
        if (!(error instanceof DatabaseMarked) || lookup === LOOKUPS) throw error;
        this.known.delete(databaseId);
        await this.settle(databaseId, shard, error);
      }
    }
  }

  pathOf(databaseId: string): string {
    return this.shards.get(this.known.get(databaseId) ?? this.shards.first.name).store.pathOf(databaseId);
  }

  async list(): Promise<string[]> {
    await this.shards.ready();
    return [...(await this.placed()).keys()].sort();
  }

  /** The shard of each database that exists. */
  async placed(): Promise<ReadonlyMap<string, string>> {
    const placed = new Map<string, string>();
    for (const { name, store } of this.shards.all) {
      const [ids, marked] = [await store.list(), await store.marked()];
      const isElsewhere = await this.shards.directory.elsewhere([...marked.keys()], name);
      for (const id of ids)
        if (marked.get(id)?.role !== 'moved' && !isElsewhere.has(id) && !isIncoming(marked.get(id)))
          placed.set(id, name);
    }
    return placed;
  }

  async outline(databaseId: string): Promise<DatabaseOutline> {
    return (await this.shardOf(databaseId)).store.outline(databaseId);
  }

  markDamaged(): void {}

  /** Ready while any shard is: the databases of the others are offline, and `unavailableShards` names them. */
  async readiness(): Promise<Readiness> {
    await Promise.all(
      this.shards.all.map(async ({ name, store }) => void this.states.set(name, await inTime(store.readiness()))),
    );
    const states = new Set(this.states.values());
    return (['ready', 'schema-incompatible'] as const).find((state) => states.has(state)) ?? 'unavailable';
  }

  /** The states of the shards by name, as last seen. */
  get shardStates(): ReadonlyMap<string, Readiness> {
    return this.states;
  }

  /** The shard of a database. Assigns a shard to a new one. */
  async shardOf(databaseId: string): Promise<OpenShard> {
    await this.shards.ready();
    const { directory } = this.shards;
    const name =
      this.known.get(databaseId) ??
      (await directory.find(databaseId))?.shard ??
      (this.shards.isReadOnly ? await this.found(databaseId) : await this.place(databaseId));
    const shard = await this.shards.use(name);
    this.known.set(databaseId, name);
    return shard;
  }

  private async place(databaseId: string): Promise<string> {
    const { directory, all } = this.shards;
    const place = (): Promise<string> =>
      directory.place(databaseId, all, (one) => this.states.get(one) === 'unavailable');
    try {
      return await place();
    } catch (error) {
      if (!isUnregistered(error)) throw error;
      await this.shards.registerAgain();
      return place();
    }
  }

  /** The shard of a database that the directory does not have yet. */
  private async found(databaseId: string): Promise<string> {
    const shard = (await this.placed()).get(databaseId);
    if (shard === undefined) throw new RockpoolError('storage-missing', { database: databaseId });
    return shard;
  }

  close(): Promise<void> {
    return this.shards.closeStores();
  }

  /**
   * Resolves the state of a mark. Returns if the database should be looked up again, and throws the error while it is
   * still moving or being deleted. A move that was killed needs no operator: the directory has decided it or decides it
   * now, and the mark is removed.
   */
  private async settle(databaseId: string, { name, store }: OpenShard, marked: DatabaseMarked): Promise<void> {
    const { mark } = marked;
    const placement = await this.shards.directory.find(databaseId);
    if (placement?.shard !== name) return;
    // `moved`: the directory was restored to an older state, and doctor reports it.
    if (this.shards.isReadOnly || mark.role === 'moved' || mark.role === 'deleted') throw marked;
    if (mark.role === 'source' && placement.moveId === mark.moveId) {
      if (!placement.isMoveExpired) throw marked;
      if (!(await this.shards.directory.endExpiredMove(databaseId, mark.moveId))) return;
    }
    await store.clearMark(databaseId, mark);
  }
}

/** Whether the directory refused to place a database at a shard that is not registered. */
function isUnregistered(error: unknown): boolean {
  return error instanceof RockpoolError && error.fields['systemCode'] === '23503';
}

function isIncoming(mark: MoveMark | undefined): boolean {
  return mark?.role === 'target';
}

async function inTime(answer: Promise<Readiness>): Promise<Readiness> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Readiness>((resolve) => {
    timer = setTimeout(() => resolve('unavailable'), SHARD_ANSWER_MS);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
