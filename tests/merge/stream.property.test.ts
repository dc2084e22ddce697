import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atLevel } from '#kit/level.ts';
import { buildSchema, RockpoolError, type Delivery } from '#shared/index.ts';
import { testTable } from '#client/testing/worker/table-schema.ts';
import { LiveDatabase } from '#sync-server/database/live-database.ts';
import { openDatabaseFile } from '#sync-server/store/database-file.ts';
import { untilCommitted } from '#sync-server/testing/direct-session.ts';
import { DirectDevice } from '#kit/direct-device.ts';

const page = testTable(
  'page',
  { id: 'text not null', title: 'text', hits: 'integer not null default 0' },
  { uniques: [['title']], merge: { deleteRule: 'update-wins', counters: ['hits'], groups: [], documents: [] } },
);
const note = testTable(
  'note',
  { id: 'text not null', page_id: 'text', body: 'text' },
  {
    foreignKeys: [
      {
        columns: ['page_id'],
        foreignTable: 'page',
        foreignColumns: ['id'],
        onDelete: 'cascade',
        onUpdate: 'no action',
      },
    ],
  },
);
const tally = testTable(
  'tally',
  { id: 'text not null', title: 'text', writes: 'integer not null default 0' },
  { merge: { deleteRule: 'delete-wins', counters: ['writes'], groups: [], documents: [] } },
);
const schema = buildSchema([page, note, tally]);
const TABLES = ['page', 'note', 'tally', 'rockpool_conflict', 'rockpool_base', 'rockpool_parked', 'rockpool_changelog'];
const DAY_MS = 24 * 3600 * 1000;

const key = fc.constantFrom('a', 'b');
const sql: fc.Arbitrary<string> = fc.oneof(
  fc
    .tuple(key, fc.constantFrom('A', 'B', 'C'))
    .map(([id, title]) => `INSERT INTO page (id, title, hits) VALUES ('${id}', '${title}', 1)`),
  fc
    .tuple(key, fc.constantFrom('A', 'B', 'C'))
    .map(([id, title]) => `UPDATE page SET title = '${title}' WHERE id = '${id}'`),
  key.map((id) => `UPDATE page SET hits = hits + 1 WHERE id = '${id}'`),
  key.map((id) => `DELETE FROM page WHERE id = '${id}'`),
  fc.tuple(key, key).map(([id, pageId]) => `INSERT INTO note (id, page_id) VALUES ('${id}', '${pageId}')`),
  fc.tuple(key, fc.nat(9)).map(([id, body]) => `UPDATE note SET body = '${body}' WHERE id = '${id}'`),
);

const step = fc.record({
  who: fc.nat(1),
  does: fc.oneof(
    {
      weight: 5,
      arbitrary: fc
        .array(sql, { minLength: 1, maxLength: 3 })
        .map((statements) => ({ name: 'write', statements }) as const),
    },
    { weight: 3, arbitrary: fc.nat(2).map((again) => ({ name: 'push', again }) as const) },
    { weight: 3, arbitrary: fc.nat(50).map((which) => ({ name: 'hear again', which }) as const) },
    {
      weight: 10,
      arbitrary: fc.constantFrom(
        { name: 'connect' } as const,
        { name: 'cut' } as const,
        { name: 'hear' } as const,
        { name: 'hear' } as const,
        { name: 'commit' } as const,
        { name: 'hear the next but one' } as const,
      ),
    },
  ),
});

class World {
  nowMs = 1_700_000_000_000;
  readonly live: LiveDatabase = new LiveDatabase(openDatabaseFile(':memory:', schema), {
    onFailure: (error) => {
      throw error;
    },
    retention: { tombstonesMs: 40, conflictsMs: DAY_MS, maxConflicts: 1000 },
  });
  readonly devices: readonly DirectDevice[] = [1, 2].map(
    (number) => new DirectDevice(schema, () => this.nowMs, number),
  );

  /** A message out of sequence is ignored or refused; it changes nothing in either case. */
  hearOutOfPlace(device: DirectDevice, delivery: Delivery | undefined): void {
    if (delivery === undefined || delivery.whole) return;
    const before = device.content(TABLES);
    try {
      device.sync.applyDeliveries([delivery]);
    } catch (error) {
      if (!(error instanceof RockpoolError) || error.code !== 'frame-unexpected') throw error;
      device.cut();
    }
    expect(device.content(TABLES)).toBe(before);
  }

  close(): void {
    for (const device of this.devices) device.close();
    void this.live.close();
  }
}

/**
 * A delivery that the device has already applied, or that is stale for another reason, even from a much earlier
 * session.
 */
function heardBefore(device: DirectDevice, which: number): Delivery | undefined {
  const { cursor } = device.sync.position();
  const old = device.heard.filter(
    ({ to }) => to <= cursor && !device.inbox.some((message) => message.type === 'delivery' && message.to === to),
  );
  return old[which % old.length];
}

describe('the stream', () => {
  it('ends in the same state however its messages are repeated, lost, cut, doubled and reordered, and every write takes effect once [MR-04] [MR-73]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 80, size: 'max' }), async (steps) => {
        const world = new World();
        try {
          world.devices[0]?.write("INSERT INTO tally (id) VALUES ('all')");
          for (const device of world.devices) await device.settle(world.live);
          for (const { who, does } of steps) {
            world.nowMs += 7;
            const device = world.devices[who] as DirectDevice;
            switch (does.name) {
              case 'write':
                device.attempt("UPDATE tally SET writes = writes + 1 WHERE id = 'all'", ...does.statements);
                break;
              case 'connect':
                if (!device.isConnected) device.connect(world.live);
                break;
              case 'cut':
                device.cut();
                break;
              case 'push':
                if (device.inbox[0]?.type !== 'welcome')
                  device.push(Math.max(0, device.sync.position().lastAckedSequence - does.again));
                break;
              case 'hear':
                device.takeNext();
                break;
              case 'hear again':
                world.hearOutOfPlace(device, heardBefore(device, does.which));
                break;
              case 'hear the next but one': {
                const [first, second] = device.inbox;
                if (
                  first?.type === 'delivery' &&
                  second?.type === 'delivery' &&
                  second.from > device.sync.position().cursor
                )
                  world.hearOutOfPlace(device, second);
                break;
              }
              case 'commit':
                await untilCommitted();
            }
          }
          for (let round = 0; round < 2; round++) for (const device of world.devices) await device.settle(world.live);
          const [one, two] = world.devices.map((device) =>
            TABLES.slice(0, 4).map((name) => device.rows(`SELECT * FROM ${name} ORDER BY 1`)),
          );
          expect(two).toEqual(one);
          const inServer = TABLES.slice(0, 3).map((name) =>
            world.live.file.sql
              .all(`SELECT * FROM ${name} ORDER BY 1`)
              .map((row) => row.map((value) => (typeof value === 'bigint' ? Number(value) : value))),
          );
          expect(inServer).toEqual(one?.slice(0, 3));
          for (const device of world.devices) expect(device.sync.counts().pendingCount).toBe(0);
          const took = world.devices
            .map(({ sync }) => sync.position().lastSequence - sync.counts().rejectedCount)
            .reduce((sum, count) => sum + count, -1);
          expect(one?.[2]).toEqual([['all', null, took]]);
        } finally {
          world.close();
        }
      }),
      { numRuns: atLevel({ test: 15, verify: 100 }) },
    );
  });
});
