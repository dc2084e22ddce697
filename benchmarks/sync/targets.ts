import type { Target } from '../report/target.ts';

/**
 * Where the time goes, for lines that have missed their targets; shown only while they do. docs/benchmarks.md says
 * more.
 */
const ACCOUNTS: Readonly<Record<string, string>> = {
  S1: 'the server makes the file when it is first asked for: reading the rows in order, writing and packing them; the client unpacks, checks and stores it',
  S1bytes: 'of each row 50 bytes are its random key and those of its account, which do not pack',
  S2p50:
    'of 5.1 ms 1.0 is the author’s captured commit, 1.8 the server’s with its wait for the disk, 1.5 the reader’s transaction, 0.7 the way between processes; 15 ms after the last write everything is cold, and a backlog takes a tenth a row',
  S2p99: 'as the median; five processes share two cores',
  'S4-100p50':
    'the 100 clients share one process: each takes the row into a SQLite of its own, one after the other, some 0.3 ms each; the peers that are faster keep objects in memory',
  'S4-100p99': 'as the median',
  'S4-500p50': 'as with 100: 500 transactions of some 0.3 ms for each write, ten times a second, are more than a core',
  'S4-500p99': 'as with 100',
  'S5-100': 'Node with the server’s code and an open database is 88 MB of it, before anybody comes',
  'S5-100each': 'a part comes once, for code that the first sessions compile: with 500 clients it is 57 KB each',
  S8p50: 'as S2: nothing in it grows with the rows',
  S3: 'each of the 10,000 is decided by itself and leaves its row, its versions, its line of the log and its outcome; author, server and reader, each cold, need 1.1 s of two cores, 0.4 of it the server’s one thread, two fifths of that SQLite',
  S3offline:
    'each is captured and its request kept in a transaction of its own: a third is COMMIT, a quarter the insert with what SQLite’s session notes of it, a fifth taking that',
};

/**
 * What sync must reach. Peers do not wait for the disk before they acknowledge, so these are figures of our own, for a
 * machine of two cores. `fsyncMs`: of this run.
 */
export function syncTargets(fsyncMs: number): Target[] {
  return [
    target('S1', 'first sync of 100,000 rows, until all can be queried', 0.5),
    target('S1bytes', 'bytes of that', 8 * 2 ** 20),
    target('S2p50', 'a write, from A by the server to B: median', round(fsyncMs + 2)),
    target('S2p99', 'a write, from A by the server to B: 99th percentile', 10),
    target('S2bytes', 'bytes up for a write of one row', 220),
    target('S3', '10,000 offline writes, until B has them', 0.5),
    target('S3bytes', 'bytes up of that', 1.2e6),
    target('S3offline', 'the 10,000 offline writes themselves', 0.6),
    target('S4-100p50', '10 writes a second to 100 clients: median', 5),
    target('S4-100p99', '10 writes a second to 100 clients: 99th percentile', 20),
    target('S4-500p50', '10 writes a second to 500 clients: median', 20),
    target('S4-500p99', '10 writes a second to 500 clients: 99th percentile', 100),
    target('S4-500missed', 'rows that never came to one of 500 clients', 0),
    target('S5-100', 'server memory with 100 idle clients', 90),
    target('S5-100each', 'of that for each client', 60),
    target('S8p50', 'a write from A to B with 10,000 rows present: median', round(fsyncMs + 2)),
  ];
}

function target(workload: string, title: string, atMost: number): Target {
  const account = ACCOUNTS[workload];
  return { workload, title, variant: '', atMost, of: 'absolute', ...(account === undefined ? {} : { account }) };
}

function round(ms: number): number {
  return Number(ms.toFixed(1));
}
