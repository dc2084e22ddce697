import { encodeWrittenRows, RockpoolError, toRockpoolError } from '#shared/index.ts';
import * as branchDocuments from '#client/branch/branch-documents.ts';
import { planRestore, type RestorePlanParts } from '#client/restore/restore-plan.ts';
import { readWrittenRows } from '#sync-server/history/written-rows.ts';
import { householdSchema } from '../household-schema.ts';
import { changesBetween, judgeMerge, NOT_JUDGED, type RowChange } from '../merged-rows.ts';
import { ORACLE_TABLES } from '../oracle/tables.ts';
import { isHonestEnd, pageClient } from '../page-client.ts';
import { withHistory } from '../past-check.ts';
import type { Device } from '../device.ts';
import type { Random } from '../random.ts';
import type { Tab } from '../tab.ts';
import type { World } from '../world.ts';

/** Marks and counters tell what was written, and pages have separate checks: typed text must not be lost. */
const NOT_RESTORED: ReadonlySet<string> = new Set(['mark', 'tally', 'page']);
const RESTORED = [...ORACLE_TABLES.keys()].filter((name) => !NOT_RESTORED.has(name));

const DELIVERED_WITHIN_MS = 15_000;
const LOOK_EVERY_MS = 50;

const schema = withHistory(householdSchema);

/** A user reverts one of the last transactions, of any author, in some or all tables. */
export function restoreWrites(world: World, device: Device, random: Random, number: number): void {
  const { past, server } = world;
  if (past === null || server.live === null || device.usableTabs.length === 0) return;
  const tab = random.pick(device.usableTabs);
  const tables = random.chance(0.7) ? RESTORED : RESTORED.filter(() => random.chance(0.5));
  const version = past.pickVersion(server.live.file, random, tables);
  if (version === null) return;
  const mark = `${device.name}-${number}`;
  const keepsCurrent = random.chance(0.3);
  const thinksMs = random.pick([0, 0, 40, 2_000]);
  let changes: readonly RowChange[] | null = null;
  let judgement = NOT_JUDGED;
  const answerAfterMs = random.below(300);
  const parts: RestorePlanParts = {
    client: pageClient(tab, `${mark} restored`, (before, after) => {
      judgement = changes === null ? NOT_JUDGED : judgeMerge({ changes, before, after, keepsCurrent });
    }),
    schema,
    async request(path) {
      await pause(answerAfterMs);
      const { live } = server;
      if (device.isPartitioned || live === null) throw new RockpoolError('network-unreachable', { stage: 'request' });
      const asked = new URL(path, 'http://server').searchParams;
      const rows = readWrittenRows(
        live.file,
        {
          site: asked.get('site'),
          author: asked.get('author'),
          fromMs: null,
          toMs: null,
          version: Number(asked.get('version')),
          tables: asked.getAll('table'),
        },
        world.time.nowMs,
      );
      changes = changesOf(world, version, tables);
      return encodeWrittenRows(rows);
    },
    requireSent: async () => undefined,
    untilApplied: (watermark) => untilApplied(tab, watermark),
    loadDocuments: async () => branchDocuments,
  };
  tab
    .run(async () => {
      const plan = await planRestore(parts, { version, tables });
      await pause(thinksMs);
      return plan.apply({ conflicts: keepsCurrent ? 'keep' : 'restore' });
    })
    .then(
      ({ rows, conflicts }) => {
        if (!tab.owner.isAlive) return;
        const { fault, hasConflicts } = judgement;
        world.note(`${mark} restored ${rows.length} rows of ${version}`);
        if (rows.length > 0) world.tally.add('transaction taken back');
        if (fault === undefined) world.tally.add('restore not judged');
        else if (fault !== null) world.fault(`${mark} did not restore ${version} as its rows say: ${fault}`);
        const hasSome = conflicts.length > 0;
        if (hasConflicts !== null && hasConflicts !== hasSome)
          world.fault(
            `${mark} restored ${version} with ${hasSome ? 'conflicts that it does not have' : 'no conflicts'}`,
          );
      },
      (thrown: unknown) => {
        if (!tab.owner.isAlive) return;
        const { code } = toRockpoolError(thrown);
        world.note(`${mark} did not restore ${version}: ${code}`);
        world.tally.add(`transaction not taken back: ${code}`);
        const isGone = code === 'history-moment-gone' && world.wasRestored;
        if (!isGone && !isHonestEnd(tab, thrown)) world.fault(`${mark} did not restore ${version}: ${String(thrown)}`);
      },
    );
}

/**
 * The changes that turn the rows after the transaction into those before it. Null if the log's past has changed since.
 */
function changesOf(world: World, version: number, tables: readonly string[]): readonly RowChange[] | null {
  const around = world.server.live === null ? null : (world.past?.around(world.server.live.file, version) ?? null);
  if (around === null) return null;
  const chosen = new Set(tables);
  return changesBetween(around.after, around.before).filter(({ row }) => chosen.has(row.slice(0, row.indexOf(' '))));
}

async function untilApplied(tab: Tab, watermark: number): Promise<void> {
  for (let waitedMs = 0; (tab.view?.meta.cursor ?? 0) < watermark; waitedMs += LOOK_EVERY_MS) {
    if (waitedMs > DELIVERED_WITHIN_MS) throw new RockpoolError('network-unreachable', { stage: 'deliveries' });
    await pause(LOOK_EVERY_MS);
  }
}

function pause(durationMs: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, durationMs));
}
