import { expect, it } from 'vitest';
import { writeMeta } from '../sqlite/meta.ts';
import { openDatabaseFile } from '../store/database-file.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import type { LogEntry } from './log.ts';

const ENTRY: LogEntry = {
  watermark: 1,
  siteNumber: 1,
  sequence: 1,
  hash: new Uint8Array(16),
  stampUs: 7,
  base: 0,
  isOfOlderEpoch: false,
  isRepetition: false,
  principal: 'ann',
  receivedMs: 1,
};

function hashWith(changed: Partial<LogEntry>): Uint8Array {
  const { sql, log, logEpoch } = openDatabaseFile(':memory:', TEST_SCHEMA);
  try {
    // Makes both files copies of one file.
    for (const name of ['epoch', 'log_secret'] as const) writeMeta(sql, name, new Uint8Array(32).fill(1));
    for (const part of [logEpoch, log]) part.reload();
    log.append({ ...ENTRY, ...changed });
    return log.hashAt(1);
  } finally {
    sql.close();
  }
}

it('two logs have equal hashes if and only if everything that determines the effect of their changesets is equal', () => {
  expect(hashWith({ receivedMs: 2, principal: 'ben' })).toEqual(hashWith({}));
  const others: Partial<LogEntry>[] = [
    { hash: new Uint8Array(16).fill(1) },
    { stampUs: 8 },
    { base: 1 },
    { isOfOlderEpoch: true },
    { isRepetition: true },
  ];
  for (const other of others) expect(hashWith(other)).not.toEqual(hashWith({}));
});

it('the log recognizes the hashes that it computed in its current log epoch, and no altered ones', () => {
  const { sql, log, logEpoch } = openDatabaseFile(':memory:', TEST_SCHEMA);
  try {
    expect(log.hasLost(1, new Uint8Array(16))).toBe(false);
    for (const watermark of [1, 2]) log.append({ ...ENTRY, watermark });
    const hash = log.hashAt(2);
    expect(log.hasLost(2, hash)).toBe(true);
    expect(log.hasLost(3, hash)).toBe(false);
    for (let at = 0; at < hash.length; at++) {
      const changed = Uint8Array.from(hash);
      changed[at] = (changed[at] as number) ^ 1;
      expect(log.hasLost(2, changed)).toBe(false);
    }
    logEpoch.renew(2);
    expect(log.hasLost(2, hash)).toBe(false);
  } finally {
    sql.close();
  }
});
