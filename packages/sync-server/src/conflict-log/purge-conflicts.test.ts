import { beforeEach, describe, expect, it } from 'vitest';
import type { CellValue } from '@rockpool/shared';
import { insert, update } from '../../testing/changeset.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import type { TestConnection } from '../../testing/test-client.ts';
import { DATABASE } from '../../testing/test-server.ts';
import { deliveredRows } from '../../testing/delivered-rows.ts';

const DAY_MS = 24 * 3600 * 1000;
let nowMs = 0;
const tested = serverUnderTest({
  now: () => nowMs,
  retention: { conflictsMs: 10 * DAY_MS, maxConflicts: 3 },
  authenticate: async () => ({ id: 'ann', databases: [DATABASE], role: 'editor', expiresAtMs: Infinity }),
});

let a: TestConnection;
beforeEach(async () => {
  nowMs = Date.UTC(2026, 0, 1);
  a = await tested.server.open();
  await a.commit([
    insert('entries', 'e', { amount: 1n, note: 'start' }),
    insert('entries', 'f', { amount: 1n, note: 'start' }),
  ]);
});

/** Two clients write the same cells concurrently; returns the client whose write lost. */
async function conflict(...values: readonly string[]): Promise<TestConnection> {
  nowMs += 3_600_000;
  const b = await tested.server.open();
  const changes = (by: string): ReturnType<typeof update>[] =>
    values.map((value, i) => update('entries', i === 0 ? 'e' : 'f', { note: `${by} ${value}` }));
  b.site.write(changes('lost'), { ageMs: 60_000 });
  await a.commit(changes('won'));
  b.push();
  await b.decided(1);
  await a.delivery();
  return b;
}

const lost = (): CellValue[] =>
  tested.server.query('SELECT lost_value FROM rockpool_conflict ORDER BY id').map(([value]) => value ?? null);

describe('the conflict log', () => {
  it('deletes expired entries with the next commit, at every client [MR-76]', async () => {
    const b = await conflict('1');
    nowMs += 6 * DAY_MS;
    await conflict('2');
    await b.delivery();
    await b.delivery();
    nowMs += 4 * DAY_MS + 1;
    expect(lost()).toEqual(['lost 1', 'lost 2']);
    await a.commit([update('entries', 'e', { amount: 2n })]);
    expect(lost()).toEqual(['lost 2']);
    expect(deliveredRows(await b.delivery(), 'rockpool_conflict')).toMatchObject([{ kind: 'delete' }]);
  });

  it('keeps only the newest entries if there are too many [MR-76]', async () => {
    for (const value of ['1', '2', '3']) await conflict(value);
    expect(lost()).toEqual(['lost 1', 'lost 2', 'lost 3']);
    await conflict('4');
    expect(lost()).toEqual(['lost 2', 'lost 3', 'lost 4']);
    // Ids sort as text, and the watermark reaches two digits.
    for (const value of ['5', '6']) await conflict(value);
    expect(lost()).toEqual(['lost 4', 'lost 5', 'lost 6']);
  });

  it('keeps all entries of the newest commit, even if they exceed the limit [MR-76]', async () => {
    for (const value of ['1', '2', '3']) await conflict(value, value);
    expect(lost()).toEqual(['lost 2', 'lost 3', 'lost 3']);
  });

  it('keeps no value of a deleted entry [MR-76]', async () => {
    await conflict('secret');
    await a.commit([update('entries', 'e', { note: 'public' })]);
    nowMs += 11 * DAY_MS;
    await a.commit([update('entries', 'e', { amount: 2n })]);
    const images = tested.server
      .query('SELECT image FROM rockpool_row_version WHERE image IS NOT NULL')
      .map(([image]) => Buffer.from(image as Uint8Array).toString('latin1'));
    expect(images).toHaveLength(1);
    expect(images[0]).not.toContain('secret');
  });
});
