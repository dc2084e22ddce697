import { encodeKey, type CellValue, type TableSchema } from '#shared/index.ts';
import { REQUEST_DEADLINE_MS } from '#client/worker/leader/leader-link.ts';
import { WITHDRAWN } from '#client/worker/changelog/withdrawn.ts';
import type { StoredRejection } from '#client/worker/changelog/decoded-changeset.ts';
import type { OpenDatabase } from '#client/worker/database/open-database.ts';
import { documentStates, type AskForValue } from '../documents/document-states.ts';
import { contentOf, difference, firstOpening, isOlder, lostTogether, lostWrites, textsIn } from './checks.ts';
import type { Device } from './device.ts';
import { householdSchema } from './household-schema.ts';
import { checkLater } from './later-reads.ts';
import { wrongEntry } from './ledger-check.ts';
import { brokenAtomic, FOLLOWED_COLUMNS, MARK, marksIn, vanishedValue, wrongWinner } from './model.ts';
import { pagesOfOneDocument, vanishedItem } from './page-items.ts';
import { ledgerEntries, loggedStamps } from './read-server.ts';
import { refusedWithoutReason } from './refusal-check.ts';
import type { ServerHost } from './server-host.ts';
import type { Tab } from './tab.ts';
import { HistoryFailed, type World } from './world.ts';

const PAGE_TABLE = householdSchema.tables.find(({ name }) => name === 'page') as TableSchema;

/** More exchanges than this indicate an endless loop. */
const MOST_EXCHANGES = 20;

/**
 * The reasons for which a transaction may be rejected. Devices send only valid changesets, so any other reason is a
 * fault.
 */
const HONEST_REFUSALS = /^(constraint-|atomic-conflict$|document-gap$)/;

type Content = ReadonlyMap<string, string>;

/** Documents of the server, and the keys of their rows. */
interface Documents {
  readonly pageIds: readonly string[];
  readonly states: string;
}

type Ask = (sql: string) => string[];

type SeenByFollowers = ReadonlyMap<Device, ReadonlyMap<Tab, Content>>;

/** What the followers read, whether from the files or through the leader. */
export async function seenByFollowers(world: World): Promise<SeenByFollowers> {
  const seen = new Map<Device, Map<Tab, Content>>();
  const reading = world.devices.flatMap((device) => {
    const contents = new Map<Tab, Content>();
    seen.set(device, contents);
    const followers = device.usableTabs.filter((tab) => tab !== device.leader);
    const schema = device.leader?.opened?.database.schema ?? householdSchema;
    return followers.map(async (tab) => void contents.set(tab, await checkLater(tab, (ask) => contentOf(ask, schema))));
  });
  await Promise.all([...reading, world.time.advance(REQUEST_DEADLINE_MS)]);
  return seen;
}

/**
 * Checks the world after all faults have ended: every device, the server, and the outcome of every write. Throws
 * `HistoryFailed`.
 */
export function checkEnding(world: World, seen: SeenByFollowers): void {
  const { devices, model, server, tally } = world;
  const differing = server.difference();
  if (differing !== null) throw new HistoryFailed(`the instances differ: ${differing}`);
  const contents = world.serverContents();
  const documents = documentsOf(server);
  const marks = new Set((server.live?.file.sql.all('SELECT id FROM mark') ?? []).map(([id]) => String(id)));
  for (const device of devices) {
    const database = device.leader?.opened?.database;
    if (database === undefined) throw new HistoryFailed(`${device.name} has no leader in the end`);
    const isOfOlderApp = isOlder(database.schema);
    if (isOfOlderApp) tally.add('older schema in the end');
    const expected = contents.get(isOfOlderApp ? 'older' : 'newer') ?? new Map<string, string>();
    checkSynced(world, device, database);
    checkContent(device, database, expected, documents);
    checkRejections(world, device, database);
    checkWithdrawals(world, device, database, marks);
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
  const ask: Ask = (sql) => (server.live?.file.sql.all(sql) ?? []).map(([value]) => String(value));
  checkValues(world, ask);
  checkPages(world, ask);
  checkConflicts(world);
  tally.add('conflict', Number(ask('SELECT count(*) FROM rockpool_conflict')[0]));
}

function documentsOf({ live }: ServerHost): Documents {
  const askServer: AskForValue = (sql, ...params) => (live?.file.sql.get(sql, ...params)?.[0] ?? null) as CellValue;
  const pageIds = (live?.file.sql.all('SELECT id FROM page ORDER BY id') ?? []).map(([id]) => String(id));
  return { pageIds, states: documentStates(PAGE_TABLE, pageIds, askServer) };
}

function afterHealing({ name }: Device): string {
  return `${name} after healing`;
}

/** Every write of the device has its outcome, after few exchanges, and none is lost. */
function checkSynced({ model }: World, device: Device, database: OpenDatabase): void {
  const where = afterHealing(device);
  // Also records changesets that were re-created after a rejection without a request of the user.
  model.record(device.name, database);
  const pending = database.outbox.pendingCount();
  if (pending > 0) {
    const { state, reason } = device.leader?.status ?? {};
    throw new HistoryFailed(`${where}: ${pending} changesets wait, ${state}, ${reason?.message ?? 'no reason'}`);
  }
  if (device.exchanges > MOST_EXCHANGES)
    throw new HistoryFailed(`${where}: syncing took ${device.exchanges} exchanges`);
  const fault = lostWrites(model, device.name, database) ?? firstOpening(database);
  if (fault !== null) throw new HistoryFailed(`${where}: ${fault}`);
}

/** The device holds the rows and documents of the server. */
function checkContent(
  device: Device,
  database: OpenDatabase,
  expected: Content,
  { pageIds, states: expectedStates }: Documents,
): void {
  const where = afterHealing(device);
  const found = difference(contentOf(textsIn(database), database.schema), expected);
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
  if (device.isDamaged) throw new HistoryFailed(`${where}: no audit has found the damaged row`);
}

function checkRejections({ model, tally }: World, device: Device, database: OpenDatabase): void {
  const where = afterHealing(device);
  const refused = refusedWithoutReason(database);
  if (refused !== null) throw new HistoryFailed(`${where}: ${refused}`);
  const isHonest = ({ changeset, error }: StoredRejection): boolean =>
    HONEST_REFUSALS.test(error.code) ||
    (error.code === WITHDRAWN && model.withdrawals.isAsked(device.name, marksIn(database, changeset.sequence)));
  const unexplained = database.rejected.list().find((one) => !isHonest(one));
  if (unexplained !== undefined) throw new HistoryFailed(`${where}: rejected because of ${unexplained.error.message}`);
  tally.add('rejection', database.rejected.count());
}

/** A withdrawn transaction is rejected and nowhere else, unless it was on its way and the server has it. */
function checkWithdrawals(
  { model, tally, variant: { instances = 1 } }: World,
  device: Device,
  database: OpenDatabase,
  onServer: ReadonlySet<string>,
): void {
  for (const { mark, isOnServer, isListed } of model.withdrawals.ofDevice(device.name, database, onServer)) {
    if (!isOnServer) tally.add('withdrawn transaction that stayed away');
    else if (!isListed) tally.add('withdrawn transaction that had been sent');
    // A push that was on its way to one instance may arrive after another one has welcomed the device.
    else if (instances > 1) tally.add('withdrawal not judged: late push to another instance');
    else throw new HistoryFailed(`${afterHealing(device)}: ${mark} is withdrawn, and on the server`);
  }
}

/** Every admitted value is visible or in the conflict log. */
function checkValues({ model, wasRestored }: World, ask: Ask): void {
  const vanished = vanishedValue(model, {
    admitted: new Set(ask('SELECT id FROM mark')),
    visible: new Set(
      FOLLOWED_COLUMNS.flatMap(({ table, column }) =>
        ask(`SELECT ${column} FROM ${table} WHERE ${column} IS NOT NULL`),
      ),
    ),
    lost: new Set(ask('SELECT lost_value FROM rockpool_conflict WHERE lost_value IS NOT NULL')),
    wasRestored,
  });
  if (vanished !== null) throw new HistoryFailed(vanished);
}

/** Every admitted item of a page is visible or in the conflict log. A document is lost only if it was replaced. */
function checkPages({ model, server, wasRestored }: World, ask: Ask): void {
  const lostPages = "FROM rockpool_conflict WHERE table_name = 'page' AND column_name = 'content'";
  const vanishedFromPage = vanishedItem(model, {
    admitted: new Set(ask('SELECT id FROM mark')),
    texts: ask(
      `SELECT content FROM page WHERE content IS NOT NULL UNION ALL SELECT lost_value ${lostPages} AND lost_value IS NOT NULL`,
    ),
    // An edit that no longer applies within a document that still exists has the same path, but no winner.
    lostWithDocument: new Set(
      ask(`SELECT row_key ->> 0 ${lostPages} AND path = '[]' AND (rule <> 'lww' OR won_at_ms <> 0)`),
    ),
  });
  if (vanishedFromPage !== null) throw new HistoryFailed(vanishedFromPage);
  // A document that was compacted exactly once still accepts edits made to its previous version. A restored server may
  // never have compacted it.
  const oneDocument = wasRestored ? new Set() : pagesOfOneDocument(model);
  const lostForNothing = ask(
    `SELECT row_key ->> 0 ${lostPages} AND path = '[]' AND rule = 'lww' AND won_at_ms <> 0`,
  ).find((id) => oneDocument.has(id) && timesCompacted(server, id) <= 1);
  if (lostForNothing !== undefined)
    throw new HistoryFailed(`an edit of page ${lostForNothing} was lost with its document, which nobody has replaced`);
}

/** Every conflict-log entry has the right author, stamp, rule and winner. */
function checkConflicts(world: World): void {
  const { model, server, stamps, wasRestored } = world;
  const { live } = server;
  if (live === null) return;
  const { sql } = live.file;
  const misplaced = stamps.wrongStamp(loggedStamps(sql), wasRestored);
  if (misplaced !== null) throw new HistoryFailed(misplaced);
  const spurious = wrongEntry(model, ledgerEntries(sql), { wasRestored });
  if (spurious !== null) throw new HistoryFailed(spurious);
  // A mark is written only once, so it has the version of its transaction.
  const logged = (column: string, mark: string): number | null => {
    const value = sql.get(
      `SELECT ${column} FROM rockpool_log JOIN rockpool_row_version USING (watermark) WHERE table_id = ? AND key = ?`,
      BigInt(MARK),
      encodeKey([mark]),
    )?.[0];
    return value === undefined ? null : Number(value);
  };
  const lostWhere = sql
    .all("SELECT lost_value, watermark FROM rockpool_conflict WHERE typeof(lost_value) = 'text'")
    .map(([lost, watermark]) => ({ lost: String(lost), watermark: Number(watermark) }));
  const broken = brokenAtomic(model, lostWhere, (mark) => logged('watermark', mark));
  if (broken !== null) throw new HistoryFailed(broken);
  const rows = sql
    .all(
      "SELECT lost_value, won_value, lost_site, won_site FROM rockpool_conflict WHERE rule = 'lww' AND column_name <> 'account_id' AND path IS NULL",
    )
    .map((row) => row.map(String));
  const wrong = wrongWinner(
    model,
    rows.map(([lost = '', won = '', lostSite = '', wonSite = '']) => ({ lost, won, lostSite, wonSite })),
    (mark) => logged('stamp_us', mark),
  );
  if (wrong !== null) throw new HistoryFailed(wrong);
}

function timesCompacted(server: ServerHost, pageId: string): number {
  const state = server.live?.file.sql.get(
    'SELECT state FROM rockpool_document WHERE table_id = ? AND key = ?',
    BigInt(PAGE_TABLE.id),
    encodeKey([pageId]),
  )?.[0];
  return state instanceof Uint8Array ? server.timesCompacted(state) : 0;
}
