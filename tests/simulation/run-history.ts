import { createHash } from 'node:crypto';
import { encodeKey, type CellValue, type TableSchema } from '#shared/index.ts';
import { documentStates, type AskForValue } from '../documents/document-states.ts';
import {
  contentOf,
  difference,
  FIRST_MARK,
  firstOpening,
  isOlder,
  lostTogether,
  lostWrites,
  readText,
} from './checks.ts';
import { REQUEST_DEADLINE_MS } from '#client/worker/leader/leader-link.ts';
import type { Device } from './device.ts';
import { checkLater } from './later-reads.ts';
import type { Tab } from './tab.ts';
import { ledgerEntries, loggedStamps } from './read-server.ts';
import { wrongEntry } from './ledger-check.ts';
import { refusedWithoutReason } from './refusal-check.ts';
import { brokenAtomic, FOLLOWED_COLUMNS, MARK, vanishedValue, wrongWinner } from './model.ts';
import type { Plan } from './operations.ts';
import { pagesOfOneDocument, vanishedItem } from './page-items.ts';
import { householdSchema } from './household-schema.ts';
import { perform, wake } from './perform.ts';
import type { ServerHost } from './server-host.ts';
import { PLAIN } from './variant.ts';
import { HistoryFailed, loadRuntimes, World } from './world.ts';
import { firstTransaction } from './writes.ts';

export interface Result {
  readonly tally: readonly (readonly [string, number])[];
  /** A hash over all events in order. */
  readonly logHash: string;
  /** Null if no problem was found. */
  readonly failure: string | null;
  readonly log: readonly string[];
  /** The number of steps performed. */
  readonly stepsTaken: number;
}

const PAGE_TABLE = householdSchema.tables.find(({ name }) => name === 'page') as TableSchema;

/** After the last fault ends: long enough for every deadline, and few enough exchanges to detect endless loops. */
const HEALING_MS = 4 * 60_000;
const MOST_EXCHANGES = 20;
const HEALING_TOKEN_MS = 60_000;

/**
 * The reasons for which a transaction may be rejected. Devices send only valid changesets, so any other reason is a
 * fault.
 */
const HONEST_REFUSALS = /^(constraint-|atomic-conflict$|document-gap$)/;

/** A function that examines the world when its devices are connected and quiet. */
export interface Observer {
  /** Called before the first step. */
  readonly atTheStart: (world: World) => Promise<void>;
  /** Called after healing. */
  readonly atTheEnd: (world: World) => Promise<void>;
}

/** Runs one history. Everything in it follows from the plan. */
export async function runHistory(
  { seed, devices, operations, variant = PLAIN }: Plan,
  observer: Observer | null = null,
): Promise<Result> {
  const loaded = await loadRuntimes();
  const world = new World(seed, loaded, variant);
  world.install();
  let failure: string | null = null;
  let stepsTaken = 0;
  try {
    world.server.start();
    for (let device = 0; device < devices; device++) {
      world.addDevice().openTab();
    }
    await world.time.advance(1_000);
    const [firstTab] = world.devices[0]?.usableTabs ?? [];
    if (firstTab === undefined) throw new HistoryFailed('the first device does not open');
    await world.time.until(firstTab.write(firstTransaction(firstTab, FIRST_MARK)));
    await observer?.atTheStart(world);
    for (const operation of operations) {
      stepsTaken++;
      world.note(`${operation.number} ${operation.kind} ${operation.device}`);
      await perform(world, operation);
      world.assertSound();
    }
    await heal(world);
    await observer?.atTheEnd(world);
    checkEnding(world, await seenByFollowers(world));
    if (world.server.live !== null) world.past?.atTheEnd(world.server.live.file);
    world.assertSound();
  } catch (thrown) {
    failure =
      thrown instanceof HistoryFailed
        ? thrown.message
        : thrown instanceof Error
          ? (thrown.stack ?? thrown.message)
          : String(thrown);
  } finally {
    await world.dispose();
  }
  return {
    tally: [...world.tally.counts],
    logHash: createHash('sha256').update(world.log.join('\n')).digest('hex'),
    failure,
    log: world.log,
    stepsTaken,
  };
}

async function heal(world: World): Promise<void> {
  world.note('healing');
  world.server.trap = null;
  world.server.failSyncs(0);
  world.server.makeRoom();
  world.server.start();
  for (const device of world.devices) {
    world.network.partition(device, false);
    device.isSlow = false;
    device.forgetDoom();
    device.makeRoom();
    device.tokenLifetimeMs = Math.max(device.tokenLifetimeMs, HEALING_TOKEN_MS);
    world.server.setRole(device.name, 'editor', 'owner');
    for (const tab of device.tabs) {
      tab.medium.freeze(false);
      if (tab.isSuspended) wake(tab);
    }
    if (device.tabs.length === 0) device.openTab();
    device.exchanges = 0;
  }
  await world.time.advance(HEALING_MS);
  await world.damageOne();
  for (const device of world.devices) {
    // Every tab may have been closing.
    if (device.leader === undefined) device.openTab();
  }
  await world.time.advance(60_000);
  world.assertSound();
}

type SeenByFollowers = ReadonlyMap<Device, ReadonlyMap<Tab, ReadonlyMap<string, string>>>;

/** What the followers read, whether from the files or through the leader. */
async function seenByFollowers(world: World): Promise<SeenByFollowers> {
  const seen = new Map<Device, Map<Tab, ReadonlyMap<string, string>>>();
  const reading = world.devices.flatMap((device) => {
    const contents = new Map<Tab, ReadonlyMap<string, string>>();
    seen.set(device, contents);
    const followers = device.usableTabs.filter((tab) => tab !== device.leader);
    const schema = device.leader?.opened?.database.schema ?? householdSchema;
    return followers.map(async (tab) => void contents.set(tab, await checkLater(tab, (ask) => contentOf(ask, schema))));
  });
  await Promise.all([...reading, world.time.advance(REQUEST_DEADLINE_MS)]);
  return seen;
}

function checkEnding(world: World, seen: SeenByFollowers): void {
  const { devices, model, server, tally } = world;
  const differing = server.difference();
  if (differing !== null) throw new HistoryFailed(`the instances differ: ${differing}`);
  const contents = world.serverContents();
  const askServer: AskForValue = (sql, ...params) =>
    (server.live?.file.sql.get(sql, ...params)?.[0] ?? null) as CellValue;
  const pageIds = (server.live?.file.sql.all('SELECT id FROM page ORDER BY id') ?? []).map(([id]) => String(id));
  const expectedStates = documentStates(PAGE_TABLE, pageIds, askServer);
  for (const device of devices) {
    const tab = device.leader;
    if (tab === undefined || tab.opened === null) throw new HistoryFailed(`${device.name} has no leader in the end`);
    const { database } = tab.opened;
    const { name } = device;
    const { schema } = database;
    const expected = contents.get(isOlder(schema) ? 'older' : 'newer') ?? new Map<string, string>();
    if (isOlder(schema)) tally.add('older schema in the end');
    const where = `${name} after healing`;
    // Also records changesets that were re-created after a rejection without a request of the user.
    model.record(name, database);
    const pending = database.outbox.pendingCount();
    if (pending > 0)
      throw new HistoryFailed(
        `${where}: ${pending} changesets wait, ${tab.status.state}, ${tab.status.reason?.message ?? 'no reason'}`,
      );
    const found = difference(
      contentOf((sql) => readText(database, sql), schema),
      expected,
    );
    if (found !== null) throw new HistoryFailed(`${where} differs from the server: ${found}`);
    if (database.connection.value('SELECT count(*) FROM rockpool_base') !== 0)
      throw new HistoryFailed(`${where}: covered values without a pending write`);
    const states = documentStates(
      PAGE_TABLE,
      pageIds,
      (sql, ...params) => database.connection.value(sql, ...params) as CellValue,
    );
    if (states !== expectedStates)
      throw new HistoryFailed(
        `${where} has different documents from the server:\n${states}\ninstead of\n${expectedStates}`,
      );
    const orphan = database.connection.rows('PRAGMA foreign_key_check')[0];
    if (orphan !== undefined) throw new HistoryFailed(`${where}: foreign_key_check: ${orphan.join(', ')}`);
    const fault = lostWrites(model, name, database) ?? firstOpening(database);
    if (fault !== null) throw new HistoryFailed(`${where}: ${fault}`);
    if (device.exchanges > MOST_EXCHANGES)
      throw new HistoryFailed(`${where}: syncing took ${device.exchanges} exchanges`);
    const refused = refusedWithoutReason(database);
    if (refused !== null) throw new HistoryFailed(`${where}: ${refused}`);
    const unexplained = database.rejected.list().find(({ error }) => !HONEST_REFUSALS.test(error.code));
    if (device.isDamaged) throw new HistoryFailed(`${where}: no audit has found the damaged row`);
    if (unexplained !== undefined)
      throw new HistoryFailed(`${where}: rejected because of ${unexplained.error.message}`);
    tally.add('rejection', database.rejected.count());
    for (const [follower, content] of seen.get(device) ?? []) {
      const differs = difference(content, expected);
      if (differs !== null) throw new HistoryFailed(`${follower.owner.name}, a follower, differs: ${differs}`);
    }
  }
  const together = lostTogether(
    model,
    devices.flatMap(({ leader }) => leader?.opened?.database ?? []),
  );
  if (together !== null) throw new HistoryFailed(together);
  const ask = (sql: string): string[] => (server.live?.file.sql.all(sql) ?? []).map(([value]) => String(value));
  const vanished = vanishedValue(model, {
    admitted: new Set(ask('SELECT id FROM mark')),
    visible: new Set(
      FOLLOWED_COLUMNS.flatMap(({ table, column }) =>
        ask(`SELECT ${column} FROM ${table} WHERE ${column} IS NOT NULL`),
      ),
    ),
    lost: new Set(ask('SELECT lost_value FROM rockpool_conflict WHERE lost_value IS NOT NULL')),
    wasRestored: world.wasRestored,
  });
  if (vanished !== null) throw new HistoryFailed(vanished);
  const lostPages = "FROM rockpool_conflict WHERE table_name = 'page' AND column_name = 'content'";
  const vanishedFromPage = vanishedItem(model, {
    admitted: new Set(ask('SELECT id FROM mark')),
    texts: ask(
      `SELECT content FROM page WHERE content IS NOT NULL UNION ALL SELECT lost_value ${lostPages} AND lost_value IS NOT NULL`,
    ),
    // An edit that lost its place within a document that stands has the same path, but no winner.
    lostWithDocument: new Set(
      ask(`SELECT row_key ->> 0 ${lostPages} AND path = '[]' AND (rule <> 'lww' OR won_at_ms <> 0)`),
    ),
  });
  if (vanishedFromPage !== null) throw new HistoryFailed(vanishedFromPage);
  // A document that was compacted once still takes edits of its previous version. A restored server may never have
  // compacted it.
  const oneDocument = world.wasRestored ? new Set() : pagesOfOneDocument(model);
  const lostForNothing = ask(
    `SELECT row_key ->> 0 ${lostPages} AND path = '[]' AND rule = 'lww' AND won_at_ms <> 0`,
  ).find((id) => oneDocument.has(id) && timesCompacted(server, id) <= 1);
  if (lostForNothing !== undefined)
    throw new HistoryFailed(`an edit of page ${lostForNothing} was lost with its document, which nobody has replaced`);
  const { live } = server;
  const misplaced = live === null ? null : world.stamps.wrongStamp(loggedStamps(live.file.sql), world.wasRestored);
  if (misplaced !== null) throw new HistoryFailed(misplaced);
  const spurious =
    live === null ? null : wrongEntry(model, ledgerEntries(live.file.sql), { wasRestored: world.wasRestored });
  if (spurious !== null) throw new HistoryFailed(spurious);
  const rows =
    live?.file.sql
      .all(
        "SELECT lost_value, won_value, lost_site, won_site FROM rockpool_conflict WHERE rule = 'lww' AND column_name <> 'account_id' AND path IS NULL",
      )
      .map((row) => row.map(String)) ?? [];
  // A mark is written only once, so it has the version of its transaction.
  const logged = (column: string, mark: string): number | null => {
    const value = live?.file.sql.get(
      `SELECT ${column} FROM rockpool_log JOIN rockpool_row_version USING (watermark) WHERE table_id = ? AND key = ?`,
      BigInt(MARK),
      encodeKey([mark]),
    )?.[0];
    return value === undefined ? null : Number(value);
  };
  const stampOf = (mark: string): number | null => logged('stamp_us', mark);
  const lostWhere =
    live?.file.sql
      .all("SELECT lost_value, watermark FROM rockpool_conflict WHERE typeof(lost_value) = 'text'")
      .map(([lost, watermark]) => ({ lost: String(lost), watermark: Number(watermark) })) ?? [];
  const broken = brokenAtomic(model, lostWhere, (mark) => logged('watermark', mark));
  if (broken !== null) throw new HistoryFailed(broken);
  const wrong = wrongWinner(
    model,
    rows.map(([lost = '', won = '', lostSite = '', wonSite = '']) => ({ lost, won, lostSite, wonSite })),
    stampOf,
  );
  if (wrong !== null) throw new HistoryFailed(wrong);
  tally.add('conflict', Number(ask('SELECT count(*) FROM rockpool_conflict')[0]));
}

function timesCompacted(server: ServerHost, pageId: string): number {
  const state = server.live?.file.sql.get(
    'SELECT state FROM rockpool_document WHERE table_id = ? AND key = ?',
    BigInt(PAGE_TABLE.id),
    encodeKey([pageId]),
  )?.[0];
  return state instanceof Uint8Array ? server.timesCompacted(state) : 0;
}
