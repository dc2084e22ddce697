import type { Target } from '../report/target.ts';
import { WORKLOADS } from './workloads.ts';

const AHP_WAL = 'AccessHandlePool-wal';
const WRITE_AHEAD = 'WriteAhead +8K16';

/** Titles of the lines that the runner measures itself. */
const TITLES: Readonly<Record<string, string>> = {
  L1: 'cold open of a 50 MB database to its first row',
  L8w: 'one tab writes every 10 ms while another reads: a write',
  L8r: 'one tab writes every 10 ms while another reads: a read',
  reads: 'two tabs read while a third writes every 10 ms: reads of both',
  liveP50: 'from a write to 5 of 100 live queries on the page, 100,000 rows: median',
  liveP95: 'from a write to 5 of 100 live queries on the page, 100,000 rows: 95th percentile',
};

const CAPTURE_OF_MANY = 'capture is a third of it: the local tables, which have none, reach the target';
/** Decision 0001 has the figures. */
const SQLITE_ITSELF =
  'SQLite itself is nine tenths of it: in memory, once optimised, this build takes no longer than sqlite.org’s';
/**
 * Where the time goes, for lines that have missed their targets; shown only while they do. docs/benchmarks.md says
 * more.
 */
const ACCOUNTS: Readonly<Record<string, string>> = {
  L1: 'starting a worker and compiling SQLite, the same for all subjects, are most of it; opening three files and the first statements are the rest',
  L2: 'SQLite, and one write to the log for each commit, which takes as long for 5 KB as for 25 KB',
  L2m: 'a message to the worker and back is half of it',
  L4c: 'the whole SUM is one call of SQLite, which runs unoptimised until it returns; a third is reading',
  L4w: 'SQLite itself: in memory, without storage, this build takes as long as sqlite.org’s',
  L5: 'a tenth is storage, the rest SQLite and its binding',
  L5m: 'a message to the worker and back is most of it',
  L6: 'SQLite reading the rows is two thirds of it, the page making objects of the columns a third',
  L8r: 'a message to the worker and back is three quarters of it',
  L9: SQLITE_ITSELF,
  L9fts: SQLITE_ITSELF,
  L10: SQLITE_ITSELF,
  L11: SQLITE_ITSELF,
  L11b: SQLITE_ITSELF,
  'LI-L2':
    'IndexedDB itself, which stores 2 KB where the peer stores 40 bytes; SQLite takes a third of the worker’s time',
  'LF-L2': 'the access handle: a write costs 100 µs in Firefox, whatever its length',
  'LF-reads': 'each read goes to the leader, over a channel between tabs',
  'LW-L2':
    'as in Chromium; also, not profiled: SQLite runs unoptimised at first, and WebKit takes seconds to optimise it',
  'LW-L3': 'not profiled: SQLite runs unoptimised at first, and WebKit takes seconds to optimise it',
  'C-L1':
    'a worker, its script and SQLite’s code are about half of it; the rest are locks, files, and SQL whose functions are compiled when they are first called: the schema, time, the changelog',
  'C-inserts': CAPTURE_OF_MANY,
  'C-L2m':
    'one COMMIT, which also stores the request and the changelog; capture itself is a twentieth, as the local tables show. The worker is new, so its first few hundred writes run unoptimised',
  'C-L3m': CAPTURE_OF_MANY,
  'C-L5m':
    'a message to the worker and back is more than half of it; the rest are calls of the SDK and of SQLite that are not optimised yet',
  'C-L6': 'SQLite reading the rows is two thirds of it, the page making objects of the columns a third',
  'C-L7m': 'capture, including the old values, is a quarter of it: the local tables, which have none, reach the target',
  'C-L8w':
    'the request of each write is stored and the other tab notified, and 300 writes are too few for the code to be optimised; capture is 4 % of it, as the local tables show',
  'C-L8r': 'a message to the worker and back is three quarters of it',
  'C-liveP50': 'the write itself (as in C-L2m), a run of the queries that it can affect, and a message',
  'C-liveP95': 'as for the median; what makes the slowest twentieth slow is not profiled',
};

/** The targets of the storage relative to its peers. */
export const TARGETS: readonly Target[] = [
  target('L1', 0.8),
  target('L2', 0.6, AHP_WAL),
  { ...target('L2', 0.6, `${WRITE_AHEAD} (flushed)`), variant: 'strict' },
  target('L2m', 0.8, AHP_WAL),
  target('L3', 0.7),
  target('L3b', 0.6, 'sahpool'),
  target('L4c', 0.7),
  target('L4w', 1),
  target('L5', 0.5),
  target('L5m', 0.8),
  target('L6', 0.35),
  target('L7', 0.9),
  target('L8w', 0.6, WRITE_AHEAD),
  target('L8r', 0.6, WRITE_AHEAD),
  target('L9', 1),
  target('L9fts', 1),
  target('L10', 1),
  target('L11', 1),
  target('L11b', 1),
  // On IndexedDB: at most half as long as absurd-sql, about as fast as IndexedDB itself on single writes, ten times
  // faster on the rest.
  ...['LI-L2', 'LI-L3', 'LI-L4c', 'LI-L4w'].map((workload) => target(workload, 0.5, 'absurd-sql')),
  target('LI-L2', 1.2, 'raw IndexedDB'),
  ...['LI-L3', 'LI-L3b', 'LI-L4c', 'LI-L4w'].map((workload) => target(workload, 0.1, 'raw IndexedDB')),
  // In Firefox, where tabs cannot share access handles, two tabs read through the leader.
  { ...target('LF-reads', 3000, 'absolute'), isAtLeast: true },
  ...['LF-L2', 'LF-L3', 'LF-L4c', 'LF-L4w', 'LF-L5', 'LW-L2', 'LW-L3', 'LW-L4c', 'LW-L4w', 'LW-L5'].map((workload) =>
    target(workload, 1, 'raw IndexedDB'),
  ),
];

/**
 * The targets of the client on the page. Its tables are synced, so every write is captured, which no peer here does.
 */
export const CLIENT_TARGETS: readonly Target[] = [
  target('C-L1', 0.8),
  target('C-inserts', 1),
  target('C-L2m', 0.8, AHP_WAL),
  target('C-L3m', 1),
  target('C-L5m', 0.8),
  target('C-L6', 0.35),
  target('C-L7m', 1.3),
  target('C-L8w', 0.6, WRITE_AHEAD),
  target('C-L8r', 0.6, WRITE_AHEAD),
  target('C-liveP50', 5, 'absolute'),
  target('C-liveP95', 10, 'absolute'),
];

function target(workload: string, atMost: number, of: Target['of'] = 'best peer'): Target {
  const account = ACCOUNTS[workload];
  return { workload, title: titleOf(workload), variant: '', atMost, of, ...(account === undefined ? {} : { account }) };
}

function titleOf(workload: string): string {
  const id = workload.replace(/^(LI|LF|LW|C)-/, '');
  const title = TITLES[id] ?? WORKLOADS.get(id)?.title ?? id;
  const where =
    { LI: 'on IndexedDB: ', LF: 'in Firefox: ', LW: 'in WebKitGTK, on IndexedDB: ' }[workload.slice(0, 2)] ?? '';
  return workload === id ? title : where + title;
}
