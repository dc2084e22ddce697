import type { Target } from '../report/target.ts';

/**
 * Where the time goes, for lines that have missed their targets; shown only while they do. docs/benchmarks.md says
 * more.
 */
const ACCOUNTS: Readonly<Record<string, string>> = {
  S1: 'the server makes the file at the first request: it reads the rows in order, writes and packs them; the client unpacks, checks and stores it',
  S1bytes: '50 bytes of each row are its random key and that of its account, which cannot be compressed',
  S2p50:
    'by marks in the processes: the author 1.1 ms, the two ways 0.8, the server 2.0, of which the disk is 0.7, the reader 0.6; once warm, all three need 0.95 (npm run bench -- path), but 200 writes are too few for their code to be optimised',
  S2p99: 'as for the median; five processes share two cores',
  'S4-100p50':
    'the 100 clients share one process, and each stores the row in its own SQLite database, one after the other, for 60 to 80 µs; the faster peer keeps objects in memory',
  'S4-100p99': 'as for the median',
  'S4-500p50': 'as with 100: the 500 clients take turns in one process',
  'S4-500p99': 'as with 100',
  'S4d-100p50': 'writing to the sockets is 1.3 ms of it; the rest was not profiled',
  'S4d-500p50': '10 of the 13 µs for each socket are the system call, which the peer makes as well',
  'S5-100': 'Node with the server’s code and an open database, without clients, is 89 MB of it',
  'S5-100each':
    'two thirds of it occur only once, for code that the first sessions compile: with 500 clients it is 53 KB each',
  S8p50: 'as S2: nothing in it grows with the rows',
  S3: 'the server decides each of the 10,000 separately: author, server and reader need 60 µs for each, 23 of them the server’s log and tables',
  S3offline: 'each is captured and stored with its request in a transaction of its own',
};

/**
 * The targets of sync. Peers do not wait for the disk before they acknowledge, so these targets are absolute figures,
 * for a machine with two cores. `fsyncMs`: measured in this run.
 */
export function syncTargets(fsyncMs: number): Target[] {
  return [
    target('S1', 'first sync of 100,000 rows, until all can be queried', 0.5),
    target('S1bytes', 'bytes received in the first sync', 8 * 2 ** 20),
    target('S2p50', 'a write from A through the server to B: median', round(fsyncMs + 2)),
    target('S2p99', 'a write from A through the server to B: 99th percentile', 10),
    target('S2bytes', 'bytes sent for a write of one row', 220),
    target('S3', '10,000 offline writes, until B has them', 0.5),
    target('S3bytes', 'bytes sent for the 10,000 offline writes', 1.2e6),
    target('S3offline', 'the 10,000 offline writes themselves', 0.6),
    target('S4-100p50', '10 writes a second to 100 clients: median', 5),
    target('S4-100p99', '10 writes a second to 100 clients: 99th percentile', 20),
    target('S4-500p50', '10 writes a second to 500 clients: median', 20),
    target('S4-500p99', '10 writes a second to 500 clients: 99th percentile', 100),
    target('S4-500missed', 'rows that never reached one of 500 clients', 0),
    receiving('S4d-100p50', '10 writes a second to 100 receivers that only decode: median'),
    receiving('S4d-500p50', '10 writes a second to 500 receivers that only decode: median'),
    target('S5-100', 'server memory with 100 idle clients', 90),
    target('S5-100each', 'server memory for each of 100 idle clients', 60),
    target('S8p50', 'a write from A to B with 10,000 rows present: median', round(fsyncMs + 2)),
  ];
}

/** Here the server's share is measured alone, so it is compared with that of the fastest peer. */
function receiving(workload: string, title: string): Target {
  return { ...target(workload, title, 0.7), of: 'Hocuspocus' };
}

function target(workload: string, title: string, atMost: number): Target {
  const account = ACCOUNTS[workload];
  return { workload, title, variant: '', atMost, of: 'absolute', ...(account === undefined ? {} : { account }) };
}

function round(ms: number): number {
  return Number(ms.toFixed(1));
}
