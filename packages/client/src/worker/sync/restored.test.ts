import { describe, expect, it } from 'vitest';
import type { OpenDatabase } from '../database/open-database.ts';
import { openInMemory } from '../../../testing/worker/test-database.ts';
import { admitted, testDelivery, testEpoch, testSync, testWelcome } from '../../../testing/worker/sync-steps.ts';

const rejection = { sequence: 2, kind: 'rejected', code: 'constraint-check', fields: {} } as const;

const write = (id: string): { id: string; statements: { sql: string; params: string[] }[] } => ({
  id,
  statements: [{ sql: 'INSERT INTO account (id) VALUES (?)', params: [id] }],
});

/** Changesets 1 to 3, of which 1 is acknowledged, in a file that was restored from a backup. */
function restoredFile(): { database: OpenDatabase; sync: ReturnType<typeof testSync> } {
  const database = openInMemory();
  for (const id of ['a', 'b', 'c']) database.write(write(id));
  const sync = testSync(database);
  sync.applyDelivery(testDelivery({ from: 0, to: 1, lastAckedSequence: 1, outcomes: admitted(1, 1) }));
  database.meta.set('is_restored', 1);
  return { database, sync };
}

describe('a restored backup', () => {
  it('continues as a new site before it sends anything, with the changesets that the server does not have', () => {
    const { database, sync } = restoredFile();
    const before = database.siteId;
    const verdict = sync.greet(testWelcome({ lastAckedSequence: 1, decidedHash: database.changelog.hashOf(1) }));
    expect(verdict).toEqual({ kind: 'new-site', firstOwn: 2 });
    sync.becomeNewSite(2);
    expect(database.siteId).not.toEqual(before);
    expect(database.meta.get('is_restored')).toBe(null);
    expect(database.outbox.pendingCount()).toBe(2);
    expect(sync.greet(testWelcome()).kind).toBe('fits');
  });

  it('first receives the outcomes of changesets that the original has sent since the backup', () => {
    const { database, sync } = restoredFile();
    const welcome = testWelcome({ lastAckedSequence: 2, decidedHash: database.changelog.hashOf(2) });
    expect(sync.greet(welcome)).toEqual({ kind: 'outcomes-first' });
    sync.applyDelivery(testDelivery({ from: 1, to: 2, lastAckedSequence: 2, outcomes: [rejection] }));
    expect(sync.greet(welcome)).toEqual({ kind: 'new-site', firstOwn: 3 });
    sync.becomeNewSite(3);
    expect(database.rejected.list()).toMatchObject([{ changeset: { groups: [{ keys: [['b']] }] } }]);
    expect(database.outbox.pendingCount()).toBe(1);
  });

  it('sends the changesets that the server has lost, if the server was restored too', () => {
    const { sync } = restoredFile();
    expect(sync.greet(testWelcome({ logEpoch: testEpoch(2) }))).toEqual({ kind: 'new-site', firstOwn: 1 });
    sync.becomeNewSite(1);
    expect(sync.nextPush(0, 1e9)?.changesets.map(({ origin }) => origin?.sequence)).toEqual([1, 2, 3]);
  });
});
