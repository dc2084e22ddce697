import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { sumsOfLog } from './wal-frames.ts';

const HEADER = 32;
const FRAME = 24 + 4096;

/** SQLite's checksum over big-endian words; most machines are little-endian. */
function bigEndianSum(bytes: Buffer, [first, second]: readonly [number, number]): [number, number] {
  let [a, b] = [first, second];
  for (let at = 0; at < bytes.length; at += 8) {
    a = (a + bytes.readUInt32BE(at) + b) >>> 0;
    b = (b + bytes.readUInt32BE(at + 4) + a) >>> 0;
  }
  return [a, b];
}

/** The same log as a big-endian machine writes it. */
function toBigEndian(log: Buffer): Buffer {
  const other = Buffer.from(log);
  const write = (at: number, sum: readonly [number, number]): void => {
    other.writeUInt32BE(sum[0], at);
    other.writeUInt32BE(sum[1], at + 4);
  };
  other.writeUInt32BE(0x377f0683, 0);
  let sum = bigEndianSum(other.subarray(0, 24), [0, 0]);
  write(24, sum);
  for (let at = HEADER; at + FRAME <= other.length; at += FRAME) {
    sum = bigEndianSum(other.subarray(at, at + 8), sum);
    sum = bigEndianSum(other.subarray(at + 24, at + FRAME), sum);
    write(at + 16, sum);
  }
  return other;
}

it('a log is verified in either byte order', () => {
  const folder = temporaryFolder();
  const [path, copy] = [join(folder, 'a.sqlite'), join(folder, 'b.sqlite')];
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (a)');
  for (let i = 0; i < 50; i++) database.exec(`INSERT INTO t VALUES (randomblob(1000))`);
  const log = readFileSync(`${path}-wal`);
  const frames = Math.floor((log.length - HEADER) / FRAME);
  copyFileSync(path, copy);
  const converted = toBigEndian(log);
  writeFileSync(`${copy}-wal`, converted);
  database.close();
  writeFileSync(`${path}-wal`, log);

  const sums = sumsOfLog(path, frames);
  expect(sums.size).toBeGreaterThan(10);
  expect(sumsOfLog(copy, frames)).toEqual(sums);
  // SQLite agrees with the conversion.
  const reader = new DatabaseSync(copy);
  expect(reader.prepare('SELECT count(*) AS count FROM t').get()).toEqual({ count: 50 });

  for (const [file, bytes] of [
    [path, log],
    [copy, converted],
  ] as const) {
    for (const at of [HEADER, HEADER + 24, HEADER + FRAME - 1, HEADER + 3 * FRAME + 30]) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 1;
      writeFileSync(`${file}-wal`, damaged);
      expect(() => sumsOfLog(file, frames)).toThrow(expect.objectContaining({ code: 'database-damaged' }));
    }
  }
  reader.close();
});
