import { createHash } from 'node:crypto';
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { loadSqlite } from '../../packages/client/src/worker/sqlite/load-sqlite.node.ts';
import { Connection } from '../../packages/client/src/worker/sqlite/connection.ts';
import { ledgerRow } from '../sync/rows.ts';

export interface Floor {
  readonly name: string;
  /** Processor time of the process for one operation, in microseconds. */
  readonly us: number;
}

const TABLE =
  'CREATE TABLE ledger (id TEXT PRIMARY KEY NOT NULL, account TEXT NOT NULL, payee TEXT NOT NULL, amount_minor INTEGER NOT NULL, day TEXT NOT NULL, notes TEXT NOT NULL)';
const INSERT = 'INSERT INTO ledger VALUES (?, ?, ?, ?, ?, ?)';

/** Measures lower bounds of steps, independent of the surrounding code. */
export async function floors(count: number): Promise<readonly Floor[]> {
  const folder = mkdtempSync(join(tmpdir(), 'rockpool-bench-floor-'));
  try {
    return [
      { name: 'one INSERT and COMMIT of SQLite in WebAssembly, in memory', us: await wasmInsertUs(count) },
      { name: 'one INSERT and COMMIT of native SQLite, WAL, synchronous=NORMAL', us: nativeInsertUs(folder, count) },
      { name: 'one flush of 4 KB to the disk', us: flushUs(folder, Math.min(count, 200)) },
      { name: 'one SHA-256 of 200 bytes', us: hashUs(count) },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function wasmInsertUs(count: number): Promise<number> {
  const connection = new Connection(await loadSqlite(), { path: ':memory:' });
  connection.exec(TABLE);
  const statement = connection.prepare(INSERT);
  const insert = (index: number): void => {
    const { id, account, payee, amountMinor, day, notes } = ledgerRow(index);
    statement.runCells(id, account, payee, BigInt(amountMinor), day, notes);
  };
  for (let i = 0; i < count; i++) insert(i);
  const us = perItemUs(count, (i) => insert(count + i));
  statement.release();
  connection.close();
  return us;
}

function nativeInsertUs(folder: string, count: number): number {
  const database = new DatabaseSync(join(folder, 'floor.sqlite'));
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
  database.exec(TABLE);
  const statement = database.prepare(INSERT);
  const us = perItemUs(count, (index) => {
    const { id, account, payee, amountMinor, day, notes } = ledgerRow(index);
    statement.run(id, account, payee, amountMinor, day, notes);
  });
  database.close();
  return us;
}

function flushUs(folder: string, count: number): number {
  const file = openSync(join(folder, 'flushed'), 'w');
  const block = new Uint8Array(4096);
  const us = perItemUs(count, (index) => {
    writeSync(file, block, 0, block.length, index * block.length);
    fdatasyncSync(file);
  });
  closeSync(file);
  return us;
}

function hashUs(count: number): number {
  const block = new Uint8Array(200);
  return perItemUs(count, () => createHash('sha256').update(block).digest());
}

function perItemUs(count: number, run: (index: number) => unknown): number {
  const before = process.cpuUsage();
  for (let i = 0; i < count; i++) run(i);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}
