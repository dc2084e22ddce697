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
  principal: 'ann',
  receivedMs: 1,
};

function linkWith(changed: Partial<LogEntry>): Uint8Array {
  const { sql, log } = openDatabaseFile(':memory:', TEST_SCHEMA);
  try {
    log.append({ ...ENTRY, ...changed });
    return log.hashAt(1);
  } finally {
    sql.close();
  }
}

it('hashes everything that determines the effect of a changeset: two logs have equal hashes where that is equal', () => {
  expect(linkWith({ receivedMs: 2, principal: 'ben' })).toEqual(linkWith({}));
  const others: Partial<LogEntry>[] = [
    { hash: new Uint8Array(16).fill(1) },
    { stampUs: 8 },
    { base: 1 },
    { isOfOlderEpoch: true },
  ];
  for (const other of others) expect(linkWith(other)).not.toEqual(linkWith({}));
});
