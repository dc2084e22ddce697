import { expect, it } from 'vitest';
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
  const { sql, log } = openDatabaseFile(':memory:', TEST_SCHEMA);
  try {
    log.append({ ...ENTRY, ...changed });
    return log.hashAt(1);
  } finally {
    sql.close();
  }
}

it('gives two logs equal hashes exactly if everything that determines the effect of their changesets is equal', () => {
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
