import { StorageError, openStorage, opfsExclusiveMedium, opfsSharedMedium } from '#vfs-opfs/index.ts';
import type { Medium, Storage } from '#vfs-opfs/index.ts';
import { loadBrowserSqlite } from '#vfs-opfs/testing/browser-sqlite.ts';
import { TestConnection, TestSqliteError } from '#vfs-opfs/testing/test-connection.ts';
import type { FoundTabs, Report } from '../report.ts';
import { disturbBroadcasts } from './disturb-broadcasts.ts';
import { fileWorkOf, watchFiles } from './opening-work.ts';

// One tab, for its lifetime: writes as the only writer, gives up that role, reads while another tab writes, and so on.
// Reports every commit after it returned; what a tab finds is compared with the reports of all tabs.

/** Longer than any wait for the other tabs. */
const WAIT_FOR_TURN_MS = 120_000;
/** A reader waits only until the database exists. */
const WAIT_FOR_DATABASE_MS = 10_000;
const SQLITE_BUSY = 5;
const SQLITE_FULL = 13;

interface Tab {
  readonly name: string;
  /** Which start of the browser this tab belongs to. */
  readonly start: string;
  readonly database: string;
  /** How many of its transactions keep their lines; infinite by default. */
  readonly kept: number;
  readonly medium: Medium;
  readonly random: () => number;
}

async function tell(tab: Tab, report: Report): Promise<void> {
  await fetch(`/journal?tab=${tab.name}&start=${tab.start}`, { method: 'POST', body: JSON.stringify(report) });
}

async function acknowledgedSoFar(): Promise<Readonly<Record<string, number>>> {
  return (await fetch('/acknowledged')).json() as Promise<Record<string, number>>;
}

function open(tab: Tab, role: 'writer' | 'reader', timeoutMs: number): Promise<Storage> {
  return openStorage({
    name: tab.database,
    medium: tab.medium,
    role,
    timeoutMs,
    // Small segments, so that a second of writing goes through many of them.
    tuning: { checkpointAfterBytes: 256 * 1024, segmentGrowthBytes: 64 * 1024, poolSizeBytes: 4 * 65536 },
  });
}

async function openedAsWriter(tab: Tab): Promise<{ storage: Storage; connection: TestConnection }> {
  const module = await loadBrowserSqlite();
  const startMs = performance.now();
  let isLockFree = true;
  const [storage, files] = await fileWorkOf(() =>
    open(tab, 'writer', 0).catch((error: unknown) => {
      if (!(error instanceof StorageError) || error.fields['holder'] !== 'a writer') throw error;
      isLockFree = false;
      return open(tab, 'writer', WAIT_FOR_TURN_MS);
    }),
  );
  await tell(tab, { kind: 'opened', elapsedMs: performance.now() - startMs, work: { isLockFree, ...files } });
  return { storage, connection: new TestConnection(module, storage) };
}

const CREATE = `CREATE TABLE IF NOT EXISTS entry(tab TEXT, sequence INTEGER, rows INTEGER, PRIMARY KEY (tab, sequence));
  CREATE TABLE IF NOT EXISTS line(tab TEXT, sequence INTEGER, content TEXT); CREATE INDEX IF NOT EXISTS by_entry ON line(tab, sequence);`;

/** Transaction `sequence` of a tab; a large batch has many rows. Deletes the lines of an old transaction. */
function transactionSql({ name: tab, kept }: Tab, sequence: number): string {
  const rows = sequence % 25 === 0 ? 2000 : 1 + (sequence % 7);
  const old = `tab = '${tab}' AND sequence = ${sequence - kept}`;
  const deletion = sequence > kept ? `DELETE FROM line WHERE ${old}; UPDATE entry SET rows = 0 WHERE ${old};` : '';
  return `BEGIN; ${deletion} INSERT INTO entry VALUES ('${tab}', ${sequence}, ${rows});
    INSERT INTO line SELECT '${tab}', ${sequence}, printf('%.*c', 20 + i % 200, 'x') FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows}) SELECT i FROM n);
    COMMIT`;
}

function found(connection: TestConnection): FoundTabs {
  const rows = connection.run(
    `SELECT tab, max(sequence), count(*), sum(rows <> (SELECT count(*) FROM line WHERE line.tab = entry.tab AND line.sequence = entry.sequence)) FROM entry GROUP BY tab`,
  );
  return Object.fromEntries(
    rows.map(([tab, last, count, incomplete]) => [
      String(tab),
      { last: Number(last), count: Number(count), incomplete: Number(incomplete) },
    ]),
  );
}

async function look(tab: Tab, connection: TestConnection, role: 'writer' | 'reader'): Promise<void> {
  const readFrom = await acknowledgedSoFar();
  // One read transaction over both queries.
  connection.run('BEGIN');
  const tabs = found(connection);
  const integrity = String(connection.value('PRAGMA integrity_check'));
  connection.run('COMMIT');
  await tell(tab, { kind: 'found', role, integrity, tabs, readFrom });
}

async function writeForAWhile(tab: Tab): Promise<void> {
  const { storage, connection } = await openedAsWriter(tab);
  connection.run(CREATE);
  await look(tab, connection, 'writer');
  let sequence = found(connection)[tab.name]?.last ?? 0;
  const endMs = performance.now() + 100 + 300 * tab.random();
  while (performance.now() < endMs) {
    if (!(await committed(tab, storage, connection, sequence + 1))) continue;
    sequence += 1;
    if (tab.random() < 0.03) vacuum(connection, sequence);
    // Without space the WAL checkpoint fails and can be repeated later: the log has everything.
    if (tab.random() < 0.05) await storage.checkpoint().catch(() => undefined);
  }
  connection.close();
  await storage.close();
}

/** Changes the page size. Has no effect if the disk is full. */
function vacuum(connection: TestConnection, sequence: number): void {
  try {
    connection.run(`PRAGMA page_size = ${[4096, 8192][sequence % 2]}; VACUUM`);
  } catch (error) {
    if (!(error instanceof TestSqliteError) || (error.resultCode & 0xff) !== SQLITE_FULL) throw error;
  }
}

/** False if the disk is full: the transaction has no effect and can be retried. */
async function committed(tab: Tab, storage: Storage, connection: TestConnection, sequence: number): Promise<boolean> {
  try {
    connection.run(transactionSql(tab, sequence));
  } catch (error) {
    if (!(error instanceof TestSqliteError) || (error.resultCode & 0xff) !== SQLITE_FULL) throw error;
    if (connection.inTransaction) connection.run('ROLLBACK');
    await tell(tab, { kind: 'full', code: storage.lastError?.code ?? 'nothing' });
    return false;
  }
  await tell(tab, { kind: 'acknowledged', sequence });
  return true;
}

async function readForAWhile(tab: Tab): Promise<void> {
  const module = await loadBrowserSqlite();
  const storage = await open(tab, 'reader', WAIT_FOR_DATABASE_MS);
  const connection = new TestConnection(module, storage);
  await again(() => look(tab, connection, 'reader'), connection);
  let longestMs = 0;
  let reads = 0;
  const endMs = performance.now() + 100 + 300 * tab.random();
  while (performance.now() < endMs) {
    const startMs = performance.now();
    await again(async () => void connection.value('SELECT max(sequence) FROM entry'), connection);
    longestMs = Math.max(longestMs, performance.now() - startMs);
    reads += 1;
    if (reads % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 0));
  }
  await tell(tab, { kind: 'stall', longestMs, reads });
  connection.close();
  await storage.close();
}

/** Repeats a read that failed because the database was busy; any other error is a failure. */
async function again(read: () => Promise<void>, connection: TestConnection): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await read();
    } catch (error) {
      if (connection.inTransaction) connection.run('ROLLBACK');
      if (!(error instanceof TestSqliteError) || (error.resultCode & 0xff) !== SQLITE_BUSY || attempt === 10)
        throw error;
    }
  }
}

/** A small seeded generator of numbers from 0 to 1, so that tabs differ and runs repeat. */
function randomFrom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return (state >>> 0) / 0x1_0000_0000;
  };
}

addEventListener('message', (event: MessageEvent<string>) => {
  const parameters = new URLSearchParams(event.data);
  const seed = Number(parameters.get('seed'));
  const medium = parameters.get('medium') === 'exclusive' ? opfsExclusiveMedium() : opfsSharedMedium();
  const tab: Tab = {
    name: parameters.get('tab') ?? 'a',
    start: parameters.get('start') ?? '0',
    database: parameters.get('database') ?? 'killed',
    kept: Number(parameters.get('kept') ?? Infinity),
    medium,
    random: randomFrom(seed),
  };
  watchFiles();
  if (parameters.get('broadcasts') === 'disturbed') disturbBroadcasts(randomFrom(seed + 1));
  const live = async (): Promise<never> => {
    for (;;) {
      if (parameters.get('only') !== 'reader') await writeForAWhile(tab);
      if (medium.allowsReaders) await readForAWhile(tab);
    }
  };
  live().catch(async (error: unknown) => {
    const message = error instanceof StorageError || error instanceof Error ? error.message : String(error);
    await tell(tab, { kind: 'failed', message });
  });
});
