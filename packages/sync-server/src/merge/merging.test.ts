import { columnIdOf, tableIdOf, type CellValue } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import { insert, remove, update } from '../../testing/changeset.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import type { TestConnection } from '../../testing/test-client.ts';
import { cells, deliveredRows } from '../../testing/delivered-rows.ts';

const tested = serverUnderTest();
const YEAR_MS = 365 * 24 * 3600 * 1000;

/** Two clients that have seen one entry, two hours old. */
async function two(): Promise<{ a: TestConnection; b: TestConnection }> {
  const a = await tested.server.open(undefined, { principal: 'ann' });
  const b = await tested.server.open(undefined, { principal: 'ben' });
  await a.commit([insert('entries', 'e', { amount: 1n, note: 'start' })], { ageMs: 7_200_000 });
  await b.delivery();
  return { a, b };
}

function entry(): readonly CellValue[] | undefined {
  return tested.server.query(`SELECT amount, note FROM entries WHERE id = 'e'`)[0];
}

function conflictLog(): readonly (readonly CellValue[])[] {
  return tested.server.query(
    'SELECT table_name, row_key, column_name, rule, lost_value, won_value, lost_by, won_by FROM rockpool_conflict ORDER BY id',
  );
}

describe('writes of different columns', () => {
  it('are both kept, without a conflict', async () => {
    const { a, b } = await two();
    a.site.write([update('entries', 'e', { amount: 5n })]);
    b.site.write([update('entries', 'e', { note: 'ben' })]);
    a.push();
    await a.delivery();
    b.push();
    const delivery = await b.decided(1);
    expect(entry()).toEqual([5n, 'ben']);
    expect(conflictLog()).toEqual([]);
    expect(delivery.outcomes).toMatchObject([{ kind: 'admitted', conflictCount: 0 }]);
  });
});

describe('concurrent writes of one column', () => {
  it.each([
    ['the earlier write arrives first', 60_000, 0],
    ['the later write arrives first', 0, 60_000],
  ])('keep the later one if %s, and the other one is in the conflict log', async (_, firstAgeMs, secondAgeMs) => {
    const { a, b } = await two();
    a.site.clockAheadMs = YEAR_MS;
    b.site.clockAheadMs = -YEAR_MS;
    a.site.write([update('entries', 'e', { note: 'ann' })], { ageMs: firstAgeMs });
    b.site.write([update('entries', 'e', { note: 'ben' })], { ageMs: secondAgeMs });
    a.push();
    await a.decided(2);
    b.push();
    const bens = await b.decided(1);
    const later = firstAgeMs < secondAgeMs ? 'ann' : 'ben';
    const earlier = later === 'ann' ? 'ben' : 'ann';
    expect(entry()).toEqual([1n, later]);
    expect(conflictLog()).toEqual([['entries', '["e"]', 'note', 'lww', earlier, later, earlier, later]]);
    expect(bens.outcomes).toMatchObject([{ kind: 'admitted', conflictCount: 1 }]);
    expect(deliveredRows(bens, 'rockpool_conflict')).toHaveLength(1);
    const anns = await a.delivery();
    expect(deliveredRows(anns, 'rockpool_conflict')).toHaveLength(1);
    expect(deliveredRows(anns, 'entries')).toEqual(
      later === 'ben' ? [{ kind: 'update', key: ['e'], cells: cells({ note: 'ben' }) }] : [],
    );
  });

  it('log which device wrote what and when, and the watermark of the decision [MR-73]', async () => {
    const { a, b } = await two();
    a.site.write([update('entries', 'e', { note: 'ann' })], { ageMs: 3_600_000 });
    b.site.write([update('entries', 'e', { note: 'ben' })], { ageMs: 60_000 });
    a.push();
    await a.decided(2);
    b.push();
    await b.decided(1);
    const siteOf = ({ site }: TestConnection): string => Buffer.from(site.siteId).toString('hex');
    expect(tested.server.query('SELECT lost_site, won_site, watermark FROM rockpool_conflict')).toEqual([
      [siteOf(a), siteOf(b), 3n],
    ]);
    const [[lostAtMs, wonAtMs] = []] = tested.server.query('SELECT lost_at_ms, won_at_ms FROM rockpool_conflict');
    const minutesApart = Math.round(Number((wonAtMs as bigint) - (lostAtMs as bigint)) / 60_000);
    expect(minutesApart).toBe(59);
  });

  it('are not a conflict if their values are equal', async () => {
    const { a, b } = await two();
    for (const one of [a, b]) one.site.write([update('entries', 'e', { note: 'same' })]);
    a.push();
    await a.decided(2);
    b.push();
    await b.decided(1);
    expect(entry()).toEqual([1n, 'same']);
    expect(conflictLog()).toEqual([]);
  });

  it('correct the author who lost, however old the winning value is', async () => {
    const { a, b } = await two();
    b.site.write([update('entries', 'e', { note: 'old' })], { ageMs: 3_600_000 });
    await a.commit([update('entries', 'e', { note: 'ann' })]);
    await b.delivery();
    await a.commit([update('entries', 'e', { amount: 9n })]);
    await b.delivery();
    // Ann's value is at a watermark that Ben has seen.
    b.push();
    const delivery = await b.decided(1);
    expect(delivery.from).toBe(3);
    expect(deliveredRows(delivery, 'entries')).toEqual([{ kind: 'update', key: ['e'], cells: cells({ note: 'ann' }) }]);
  });
});

describe('a write whose author had seen the other', () => {
  it('wins even if its clock is earlier [MR-01]', async () => {
    const { a, b } = await two();
    await a.commit([update('entries', 'e', { note: 'ann' })]);
    await b.delivery();
    b.site.clockAheadMs = -YEAR_MS;
    await b.commit([update('entries', 'e', { note: 'ben' })], { ageMs: YEAR_MS });
    expect(entry()).toEqual([1n, 'ben']);
    expect(conflictLog()).toEqual([]);
  });

  it('is concurrent if an earlier pending write covered the other one [MR-02]', async () => {
    const { a, b } = await two();
    const base = b.site.cursor;
    b.site.write([update('entries', 'e', { note: 'ben 1' })], { ageMs: 60_000 });
    await a.commit([update('entries', 'e', { note: 'ann' })], { ageMs: 30_000 });
    await b.delivery();
    b.site.write([update('entries', 'e', { note: 'ben 2' })], {
      cellBases: [{ tableId: tableIdOf('entries'), key: ['e'], columnId: columnIdOf('note'), base }],
    });
    b.push(1, 2);
    await b.decided(2);
    expect(entry()).toEqual([1n, 'ben 2']);
    expect(conflictLog().map((row) => row.slice(3, 6))).toEqual([
      ['lww', 'ben 1', 'ann'],
      ['lww', 'ann', 'ben 2'],
    ]);
  });
});

describe('a deleted row', () => {
  it('stays deleted against a concurrent update, which is in the conflict log and corrects its author [MR-11]', async () => {
    const { a, b } = await two();
    a.site.write([remove('entries', 'e')]);
    b.site.write([update('entries', 'e', { note: 'ben' })]);
    a.push();
    await a.decided(2);
    b.push();
    const delivery = await b.decided(1);
    expect(entry()).toBeUndefined();
    expect(conflictLog()).toEqual([['entries', '["e"]', 'note', 'delete-wins', 'ben', null, 'ben', 'ann']]);
    expect(deliveredRows(delivery, 'entries')).toEqual([{ kind: 'delete', key: ['e'], cells: new Map() }]);
  });

  it('deletes a concurrent update that arrived before, which is in the conflict log', async () => {
    const { a, b } = await two();
    a.site.write([remove('entries', 'e')]);
    await b.commit([update('entries', 'e', { note: 'ben' })]);
    a.push();
    await a.decided(2);
    expect(entry()).toBeUndefined();
    expect(conflictLog()).toEqual([['entries', '["e"]', 'note', 'delete-wins', 'ben', null, 'ben', 'ann']]);
    expect(deliveredRows(await b.delivery(), 'entries')).toEqual([{ kind: 'delete', key: ['e'], cells: new Map() }]);
  });

  it('comes back as a new row if it is inserted again', async () => {
    const { a, b } = await two();
    await a.commit([remove('entries', 'e')]);
    await b.delivery();
    await b.commit([insert('entries', 'e', { amount: 2n, note: 'again' })]);
    expect(entry()).toEqual([2n, 'again']);
    expect(deliveredRows(await a.delivery(), 'entries')).toMatchObject([{ kind: 'insert', key: ['e'] }]);
  });

  it('is not delivered to a site that never had it, if it was inserted and deleted above the cursor', async () => {
    const { a } = await two();
    await a.commit([insert('entries', 'f', { amount: 1n })]);
    await a.commit([remove('entries', 'f')]);
    const c = await tested.server.connect();
    const { first } = await c.open(await tested.server.token(), 'household');
    expect(deliveredRows(first, 'entries')).toMatchObject([{ kind: 'insert', key: ['e'] }]);
  });

  it('is delivered to its first author, who receives the outcome of the insert and the delete at once', async () => {
    const { a, b } = await two();
    a.site.write([insert('entries', 'f', { amount: 1n })]);
    a.push();
    await b.delivery();
    a.cut();
    await b.commit([remove('entries', 'f')]);
    const again = await tested.server.connect(a.site);
    const { first } = await again.open(await tested.server.token(), 'household');
    expect(first.outcomes).toHaveLength(1);
    expect(deliveredRows(first, 'entries')).toMatchObject([{ kind: 'delete', key: ['f'] }]);
  });
});

describe('two concurrent inserts of one key', () => {
  it('leave one whole row, and the loser’s cells are in the conflict log [MR-73]', async () => {
    const { a, b } = await two();
    a.site.write([insert('entries', 'n', { amount: 1n, note: 'ann' })], { ageMs: 60_000 });
    b.site.write([insert('entries', 'n', { amount: 2n, note: 'ben' })]);
    b.push();
    await b.decided(1);
    a.push();
    const delivery = await a.decided(2);
    expect(tested.server.query(`SELECT amount, note FROM entries WHERE id = 'n'`)).toEqual([[2n, 'ben']]);
    expect(conflictLog().map((row) => row.slice(2, 6))).toEqual([
      ['amount', 'one-insert-wins', 1n, 2n],
      ['note', 'one-insert-wins', 'ann', 'ben'],
    ]);
    expect(deliveredRows(delivery, 'entries')).toMatchObject([{ kind: 'insert', key: ['n'] }]);
  });

  it('log the exact values of every type: real, integer, blob, text and NULL [MR-73]', async () => {
    const { a, b } = await two();
    const blob = Uint8Array.from([0, 255]);
    a.site.write(
      [
        update('entries', 'e', {
          weight: 1,
          receipt: blob,
          note: null,
          amount: 2n ** 40n - 2n ** 39n - 2n ** 39n + 7n,
        }),
      ],
      { ageMs: 60_000 },
    );
    b.site.write([update('entries', 'e', { weight: 2, receipt: null, note: 'x', amount: 8n })]);
    b.push();
    await b.decided(1);
    a.push();
    await a.decided(2);
    expect(
      tested.server.query(
        'SELECT column_name, lost_value, typeof(lost_value), won_value FROM rockpool_conflict ORDER BY column_name',
      ),
    ).toEqual([
      ['amount', 7n, 'integer', 8n],
      ['note', null, 'null', 'x'],
      ['receipt', blob, 'blob', null],
      ['weight', 1, 'real', 2],
    ]);
  });
});

describe('a changed primary key', () => {
  const entries = (): unknown => tested.server.query('SELECT id, note FROM entries ORDER BY id');

  it('moves the row as its author had it, and a concurrent write under the old key is in the conflict log [MR-15]', async () => {
    const { a, b } = await two();
    a.site.write([remove('entries', 'e'), insert('entries', 'f', { amount: 1n, note: 'start' })]);
    b.site.write([update('entries', 'e', { note: 'ben' })]);
    b.push();
    await b.decided(1);
    a.push();
    await a.decided(2);
    expect(entries()).toEqual([['f', 'start']]);
    expect(conflictLog()).toEqual([['entries', '["e"]', 'note', 'delete-wins', 'ben', null, 'ben', 'ann']]);
  });

  it('makes two rows if two authors choose different keys, and one row if they choose the same key [MR-16]', async () => {
    const { a, b } = await two();
    a.site.write([remove('entries', 'e'), insert('entries', 'f', { amount: 1n, note: 'start' })]);
    b.site.write([remove('entries', 'e'), insert('entries', 'g', { amount: 1n, note: 'start' })]);
    for (const one of [a, b]) {
      one.push();
      await one.decided(one.site.changelog.length);
    }
    expect(entries()).toEqual([
      ['f', 'start'],
      ['g', 'start'],
    ]);
    a.site.write([remove('entries', 'f'), insert('entries', 'h', { amount: 1n, note: 'start' })]);
    b.site.write([remove('entries', 'f'), insert('entries', 'h', { amount: 1n, note: 'start' })]);
    for (const one of [a, b]) {
      one.push();
      await one.decided(one.site.changelog.length);
    }
    expect(entries()).toEqual([
      ['g', 'start'],
      ['h', 'start'],
    ]);
    expect(conflictLog()).toEqual([]);
  });
});
