import { toRockpoolError } from '#shared/index.ts';
import * as branchDocuments from '#client/branch/branch-documents.ts';
import { BranchMerging, type BranchMergingParts } from '#client/branch/branch-merging.ts';
import { MERGE_REQUEST_PREFIX, type BranchStart } from '#client/rpc/branch-file.ts';
import { decodeRows } from '#client/rpc/rows-transfer.ts';
import { openDatabase, type OpenDatabase } from '#client/worker/database/open-database.ts';
import { STORAGE_FORMAT } from '#client/worker/file/internal-tables.ts';
import { Meta } from '#client/worker/file/meta.ts';
import { Connection } from '#client/worker/sqlite/connection.ts';
import { prepareRestored } from '#client/worker/storage/prepare-restored.ts';
import { toStatement } from '#client/tab/sql.ts';
import { openStorage, type Storage } from '#vfs-opfs/index.ts';
import { textsIn } from '../checks.ts';
import type { Device } from '../device.ts';
import { APP_SCHEMAS } from '../household-schema.ts';
import { changesBetween, judgeMerge, NOT_JUDGED, type Judgement, type RowChange } from '../merged-rows.ts';
import { readTables, type TableTexts } from '../oracle/tables.ts';
import { isHonestEnd, pageClient } from '../page-client.ts';
import type { Random } from '../random.ts';
import { checkNoEffect, writeAt } from '../sending.ts';
import type { Tab } from '../tab.ts';
import type { World } from '../world.ts';
import { randomTransaction } from '../writes.ts';

const LOOK_EVERY_MS = 200;
/** This many checks take longer than all time limits of a merge together. */
const MOST_LOOKS = 100;

/**
 * A user copies the database as a branch, writes in it and merges it, while this device and others write, and tabs and
 * leaders die. A branch merges once.
 */
export async function mergeBranch(world: World, device: Device, random: Random, number: number): Promise<void> {
  const mark = `${device.name}-${number}`;
  while (device.storage.isBehind) await world.time.advance(1);
  const { leader } = device;
  if (leader === undefined || !leader.isUsable || leader.isWriting) return;
  const statements = randomTransaction(leader, random, mark);
  const branch = await openBranch(world, device, random, mark);
  try {
    const base = branch.texts();
    try {
      branch.database.write({ id: `${mark} in its branch`, statements });
    } catch (thrown) {
      return world.note(`${mark} cannot be written in its branch: ${toRockpoolError(thrown).code}`);
    }
    const changes = changesBetween(base, branch.texts());
    for (let beside = random.below(3); beside > 0; beside--) {
      writeAt(world, random.chance(0.5) ? device : random.pick(world.devices), random, `${mark}.${beside}`);
      await world.time.advance(random.below(1_000));
    }
    const keepsCurrent = random.chance(0.3);
    const attempt = new Attempt(world, mark, changes, keepsCurrent);
    const attempts = 1 + random.below(2);
    for (let one = 0; one < attempts; one++) {
      const { usableTabs } = device;
      if (usableTabs.length === 0) return;
      await attempt.from(random.pick(usableTabs), branch.parts, random);
    }
  } finally {
    branch.database.close();
    await Promise.all([branch.storage.close(), world.time.advance(0)]);
  }
}

interface OpenBranch {
  readonly storage: Storage;
  readonly database: OpenDatabase;
  readonly parts: Omit<BranchMergingParts, 'origin'>;
  readonly texts: () => TableTexts;
}

async function openBranch(world: World, device: Device, random: Random, mark: string): Promise<OpenBranch> {
  const runtime = device.writers;
  const storage = await openStorage({ name: 'household', medium: device.storage.copy(null).medium(), role: 'writer' });
  storage.register(runtime.module as never);
  const { path, vfsName } = storage;
  const connection = new Connection(runtime, { path, vfsName });
  const meta = new Meta(connection);
  prepareRestored({ connection, meta, supported: STORAGE_FORMAT }, `${MERGE_REQUEST_PREFIX}${mark}`);
  const start = JSON.parse(String(meta.get('branch_json'))) as BranchStart;
  connection.close();
  const schema = APP_SCHEMAS.newer;
  const database = openDatabase({
    runtime,
    path,
    vfsName,
    role: 'writer',
    schema,
    randomBytes: (count) => random.bytes(count),
    nowMs: () => world.time.nowMs,
  });
  const query = async (...given: Parameters<typeof toStatement>): Promise<unknown[]> => {
    const { sql, params } = toStatement(...given);
    return decodeRows(database.query(sql, params));
  };
  const client = { query, transaction: async (body: (tx: unknown) => unknown) => body({ query }) };
  return {
    storage,
    database,
    parts: {
      branchName: 'what if',
      start,
      client: client as unknown as BranchMergingParts['client'],
      schema,
      loadDocuments: async () => branchDocuments,
      onProblem: () => undefined,
    },
    texts: () => readTables(textsIn(database)),
  };
}

/** A merge, and its repetition by a user who does not know whether it took effect. */
class Attempt {
  private readonly world: World;
  private readonly mark: string;
  private readonly changes: readonly RowChange[];
  private readonly keepsCurrent: boolean;
  private isMerged = false;

  constructor(world: World, mark: string, changes: readonly RowChange[], keepsCurrent: boolean) {
    this.world = world;
    this.mark = mark;
    this.changes = changes;
    this.keepsCurrent = keepsCurrent;
  }

  async from(tab: Tab, parts: Omit<BranchMergingParts, 'origin'>, random: Random): Promise<void> {
    const { world, mark, changes, keepsCurrent } = this;
    let judgement = NOT_JUDGED;
    const origin = pageClient(tab, `${mark} merged`, (before, after) => {
      judgement = judgeMerge({ changes, before, after, keepsCurrent });
    });
    const merging = new BranchMerging({ ...parts, origin });
    const looksFirst = random.chance(0.3);
    let isOver = false;
    tab
      .run(async () => {
        if (looksFirst) await merging.preview();
        return merging.merge({ conflicts: keepsCurrent ? 'origin' : 'branch' });
      })
      .then(
        ({ conflicts }) => {
          isOver = true;
          if (tab.owner.isAlive) this.onMerged(judgement, conflicts.length > 0);
        },
        (thrown: unknown) => {
          isOver = true;
          if (tab.owner.isAlive) this.onFailed(tab, thrown);
        },
      );
    const { leader } = tab.device;
    if (random.chance(0.2))
      world.time.after(random.below(30), () => {
        if (isOver) return;
        world.tally.add('crash in the merge of a branch');
        (random.chance(0.5) ? tab : (leader ?? tab)).kill();
      });
    for (let looks = 0; looks < MOST_LOOKS && !isOver && tab.owner.isAlive; looks++)
      await world.time.advance(LOOK_EVERY_MS);
  }

  private onMerged({ fault, hasConflicts }: Judgement, hasSome: boolean): void {
    const { world, mark } = this;
    if (this.isMerged) world.fault(`the branch ${mark} was merged twice`);
    this.isMerged = true;
    world.note(`${mark} merged`);
    world.tally.add('branch merged');
    if (fault === undefined) world.tally.add('merge of a branch not judged');
    else if (fault !== null) world.fault(`the branch ${mark} was not merged as its rows say: ${fault}`);
    if (hasConflicts !== null && hasConflicts !== hasSome)
      world.fault(`the branch ${mark} was merged with ${hasSome ? 'conflicts that it does not have' : 'no conflicts'}`);
    if (!world.model.commits.has(mark)) world.fault(`${mark} was merged and is not in the changelog`);
    world.model.acknowledged.add(mark);
  }

  private onFailed(tab: Tab, thrown: unknown): void {
    const { world, mark } = this;
    const { code } = toRockpoolError(thrown);
    world.note(`${mark} was not merged: ${code}`);
    world.tally.add(`branch not merged: ${code}`);
    const wasThere = world.model.commits.has(mark);
    if (code === 'branch-ended' && wasThere) return;
    // The device runs a different version of the app.
    if (code === 'branch-schema-changed' && world.hasOlderApps) return;
    if (!isHonestEnd(tab, thrown)) world.fault(`the merge of ${mark} failed with ${String(thrown)}`);
    else if (!this.isMerged && code !== 'leader-unreachable') checkNoEffect(world, tab, mark, code);
  }
}
