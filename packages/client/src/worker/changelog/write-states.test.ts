import { describe, expect, it } from 'vitest';
import type { OpenDatabase } from '../database/open-database.ts';
import { openInMemory, TestClock } from '../../../testing/worker/test-database.ts';
import { admitted, testDelivery, testSync, testWelcome } from '../../../testing/worker/sync-steps.ts';

function write(database: OpenDatabase, id: string, sql = `INSERT INTO account (id) VALUES ('${id}')`): void {
  database.write({ id, statements: [{ sql, params: [] }] });
}

const states = (database: OpenDatabase, ...ids: string[]): string[] =>
  database.writeStates(ids).map(({ state }) => state);

describe('the state of a write', () => {
  it('is pending until the outcome, then admitted, or rejected with the reason', () => {
    const database = openInMemory();
    for (const id of ['a', 'b', 'c']) write(database, id);
    const sync = testSync(database);
    sync.greet(testWelcome());
    expect(states(database, 'a', 'b', 'c')).toEqual(['pending', 'pending', 'pending']);
    const refused = { kind: 'rejected', sequence: 2, code: 'constraint-unique', fields: { table: 'account' } } as const;
    sync.applyDelivery(testDelivery({ to: 1, lastAckedSequence: 2, outcomes: [...admitted(1, 1), refused] }));
    expect(states(database, 'a', 'b', 'c')).toEqual(['admitted', 'rejected', 'pending']);
    expect(database.writeStates(['b'])).toMatchObject([
      { error: { code: 'constraint-unique', fields: { table: 'account' }, recovery: 'ask-user' } },
    ]);
    // Closing the changeset does not change the state.
    database.write({ id: 'drop', statements: [], action: { kind: 'drop-rejected', sequence: 2 } });
    expect(states(database, 'b', 'drop')).toEqual(['rejected', 'admitted']);
    database.close();
  });

  it('is admitted at once for a write to local tables only, and unknown for an unknown request', () => {
    const database = openInMemory();
    write(database, 'local', "INSERT INTO draft (id, text) VALUES (1, 'x')");
    expect(states(database, 'local', 'nobody')).toEqual(['admitted', 'unknown']);
    database.close();
  });

  it('survives a new site id', () => {
    const database = openInMemory();
    for (const id of ['a', 'b', 'c', 'd']) write(database, id);
    const sync = testSync(database);
    sync.greet(testWelcome());
    const refused = { kind: 'rejected', sequence: 2, code: 'constraint-unique', fields: {} } as const;
    sync.applyDelivery(testDelivery({ to: 1, lastAckedSequence: 2, outcomes: [...admitted(1, 1), refused] }));
    sync.becomeNewSite(4);
    expect(states(database, 'a', 'b', 'c', 'd')).toEqual(['admitted', 'rejected', 'admitted', 'pending']);
    sync.applyDelivery(
      testDelivery({
        from: 1,
        to: 4,
        lastAckedSequence: 1,
        outcomes: [{ kind: 'admitted', sequence: 1, watermark: 4, conflictCount: 0 }],
      }),
    );
    expect(states(database, 'd')).toEqual(['admitted']);
    database.close();
  });

  it('stays rejected under a new site id if the user resolved the changeset, and is not confused with the state of an earlier write', () => {
    const database = openInMemory();
    for (const id of ['a', 'b', 'c', 'd', 'e']) write(database, id);
    const sync = testSync(database);
    sync.greet(testWelcome());
    const refused = { kind: 'rejected', code: 'constraint-check', fields: {} } as const;
    sync.applyDelivery(
      testDelivery({
        to: 3,
        lastAckedSequence: 4,
        outcomes: [{ ...refused, sequence: 1 }, ...admitted(2, 3), { ...refused, sequence: 4 }],
      }),
    );
    for (const sequence of [1, 4])
      database.write({ id: `drop ${sequence}`, statements: [], action: { kind: 'drop-rejected', sequence } });
    sync.becomeNewSite(3); // The state after a restore of the server.
    expect(states(database, 'a', 'b', 'c', 'd', 'e')).toEqual([
      'rejected',
      'admitted',
      'pending',
      'rejected',
      'pending',
    ]);
    // Undoing this write must not undo the one before it.
    const undo = (): unknown =>
      database.write({ id: 'undo', statements: [], action: { kind: 'undo', requestId: 'd' } });
    expect(undo).toThrow(expect.objectContaining({ code: 'undo-refused', fields: { problem: 'rejected' } }));
    expect(database.connection.rows('SELECT id FROM account ORDER BY id').flat()).toEqual(['b', 'c', 'e']);
    database.close();
  });

  it('stays rejected once the user closes the changeset, even with a sequence below 0', () => {
    const database = openInMemory();
    write(database, 'a');
    const sync = testSync(database);
    sync.greet(testWelcome());
    sync.applyDelivery(
      testDelivery({
        to: 1,
        lastAckedSequence: 1,
        outcomes: [{ kind: 'rejected', sequence: 1, code: 'constraint-check', fields: {} }],
      }),
    );
    sync.becomeNewSite(2);
    database.write({ id: 'drop', statements: [], action: { kind: 'drop-rejected', sequence: -1 } });
    expect(states(database, 'a')).toEqual(['rejected']);
    expect(database.listRejected()).toEqual([]);
    expect(database.rejected.isEmpty()).toBe(true);
    // No other changeset may receive its sequence.
    write(database, 'b');
    sync.greet(testWelcome());
    sync.applyDelivery(
      testDelivery({
        from: 1,
        to: 2,
        lastAckedSequence: 1,
        outcomes: [{ kind: 'rejected', sequence: 1, code: 'constraint-check', fields: {} }],
      }),
    );
    sync.becomeNewSite(2);
    expect(database.listRejected().map(({ sequence }) => sequence)).toEqual([-2]);
    database.close();
  });

  it('is kept for as long as the write is pending', () => {
    const clock = new TestClock();
    const database = openInMemory({ nowMs: clock.now });
    write(database, 'first');
    clock.ms += 3 * 24 * 3_600_000;
    for (let i = 0; i < 1_001; i++) write(database, `r${i}`, 'DELETE FROM draft');
    expect(states(database, 'first')).toEqual(['pending']);
    database.close();
  });
});
