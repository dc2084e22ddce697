import { encodeOrigin, RockpoolError } from '@rockpool/shared';
import { expect, it } from 'vitest';
import type { OpenDatabase } from '../database/open-database.ts';
import { openInMemory } from '../../../testing/worker/test-database.ts';
import { lowestSequence } from './lowest-sequence.ts';
import { importUnsent, readUnsent } from './unsent.ts';

const CODE = { encodeOrigin, lowestSequence };
const reason = new RockpoolError('storage-corrupt', { keptAs: 'budget.corrupt-1' }).toData();

/** Changesets 1 to 5: 1 admitted, 2 rejected, 3 rejected and dropped, 4 and 5 pending. */
function withUnsent(): OpenDatabase {
  const database = openInMemory();
  for (const id of ['1', '2', '3', '4', '5'])
    database.write({
      id: `w${id}`,
      statements: [{ sql: `INSERT INTO account (id, name) VALUES ('${id}', 'n${id}')`, params: [] }],
    });
  for (const sequence of [2, 3]) database.rejected.add(sequence, reason, 1000);
  database.rejected.close(3);
  database.outbox.markAcknowledged(3, 1000);
  return database;
}

const keys = (database: OpenDatabase): unknown[] => database.listRejected().map(({ changes }) => changes[0]?.key[0]);

it('importUnsent imports pending and rejected changesets as rejected', () => {
  const unsent = readUnsent(withUnsent().connection, null, CODE);
  expect(unsent.isComplete).toBe(true);
  const imported = openInMemory();
  importUnsent(imported.connection, imported.rejected, unsent, reason, 2000, CODE);
  expect(keys(imported)).toEqual(['2', '4', '5']);
  expect(imported.changelog.head().sequence).toBe(0);
  imported.retryRejected(-1);
  expect(imported.query('SELECT id FROM account', []).rowCount).toBe(1);
  expect(keys(imported)).toEqual(['2', '4']);
});

it('importUnsent gives each changeset its origin, so a retry of an admitted changeset counts once', () => {
  const damaged = withUnsent();
  const imported = openInMemory();
  importUnsent(
    imported.connection,
    imported.rejected,
    readUnsent(damaged.connection, damaged.siteId, CODE),
    reason,
    2000,
    CODE,
  );
  imported.retryRejected(-1);
  expect(imported.outbox.nextPush(0, 1e9)?.changesets).toMatchObject([
    { sequence: 1, origin: { siteId: damaged.siteId, sequence: 5, hash: damaged.changelog.hashOf(5) } },
  ]);
});

it('readUnsent reads a file whose storage format has no origins yet', () => {
  const damaged = withUnsent();
  damaged.connection.exec('ALTER TABLE rockpool_changelog DROP COLUMN origin');
  const unsent = readUnsent(damaged.connection, damaged.siteId, CODE);
  expect(unsent).toMatchObject({ isComplete: true, changesets: [{}, {}, {}] });
});

it('importUnsent places a second import before the first', () => {
  const imported = openInMemory();
  for (const time of [1, 2])
    importUnsent(
      imported.connection,
      imported.rejected,
      readUnsent(withUnsent().connection, null, CODE),
      reason,
      time,
      CODE,
    );
  expect(keys(imported)).toEqual(['2', '4', '5', '2', '4', '5']);
  expect(imported.listRejected().map(({ sequence }) => sequence)).toEqual([-6, -5, -4, -3, -2, -1]);
});

it('readUnsent reports an unreadable changelog as incomplete', () => {
  const database = withUnsent();
  database.connection.exec('ALTER TABLE rockpool_changelog RENAME COLUMN body TO gone');
  expect(readUnsent(database.connection, null, CODE)).toEqual({ changesets: [], isComplete: false });
});
