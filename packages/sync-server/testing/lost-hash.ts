import { LogEpoch } from '../src/log/log-epoch.ts';
import { LogHashes } from '../src/log/log-hash.ts';
import type { SqliteFile } from '../src/sqlite/sqlite-file.ts';

/** The log hash of an entry that this file's log has lost. A client that has seen the entry has this hash. */
export function lostHash(sql: SqliteFile, watermark: number): Uint8Array {
  return new LogHashes(sql, new LogEpoch(sql)).next(new Uint8Array(16), {
    watermark,
    hash: new Uint8Array(16),
    stampUs: 1,
    base: 0,
    isOfOlderEpoch: false,
    isRepetition: false,
  });
}
