import {
  buildSchema,
  columnIdOf,
  decodeHistoryPage,
  decodeRowAtVersion,
  decodeWrittenRows,
  encodeKey,
  type HistoryPage,
  type RowAtVersion,
} from '@rockpool/shared';
import { beforeEach, describe, expect, it } from 'vitest';
import { insert, remove, update } from '../../testing/changeset.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import type { TestConnection } from '../../testing/test-client.ts';
import { TEST_TABLES } from '../../testing/test-schema.ts';

const DAY_MS = 24 * 3600 * 1000;
const KEPT: Readonly<Record<string, number | null>> = { accounts: null, cards: null, entries: 30, pages: null };
const schema = buildSchema(
  TEST_TABLES.map((table) =>
    table.name in KEPT ? { ...table, history: { retainedDays: KEPT[table.name] ?? null } } : table,
  ),
);

let nowMs = 0;
const tested = serverUnderTest({ schema, now: () => nowMs });
let a: TestConnection;
beforeEach(async () => {
  nowMs = Date.now();
  a = await tested.server.open();
});

/** Tokens last an hour, so the client connects again. */
async function later(days: number): Promise<void> {
  nowMs += days * DAY_MS;
  a = await tested.server.open(a.site);
}

const keyText = (id: string): string => Buffer.from(encodeKey([id])).toString('base64url');

async function ask(path: string, table: string, id: string, more = ''): Promise<Response> {
  const query = `${path}?table=${table}&key=${keyText(id)}${more}`;
  return tested.server.ask('GET', `/databases/household/${query}`, { token: await tested.server.token('viewer') });
}

async function page(table: string, id: string, more = ''): Promise<HistoryPage> {
  return decodeHistoryPage(new Uint8Array(await (await ask('history', table, id, more)).arrayBuffer()));
}

async function rowAt(table: string, id: string, version: number): Promise<RowAtVersion> {
  const response = await ask('history/row', table, id, `&version=${version}`);
  return decodeRowAtVersion(new Uint8Array(await response.arrayBuffer()));
}

async function codeOf(response: Promise<Response>): Promise<unknown> {
  return ((await (await response).json()) as { readonly code: unknown }).code;
}

/** The changed columns of each version, as `column: before → after`. */
function lines({ versions }: HistoryPage, ...columns: readonly string[]): string[] {
  return versions.map(({ kind, changes }) =>
    [
      kind,
      ...columns.flatMap((name) => {
        const change = changes.find(({ columnId }) => columnId === columnIdOf(name));
        return (change?.values ?? null) === null
          ? []
          : [`${name}: ${String(change?.values?.before)} → ${String(change?.values?.after)}`];
      }),
    ].join(' '),
  );
}

describe('the rows that transactions wrote', () => {
  it('include rows that were written in the last millisecond of a period that the history shows', async () => {
    // Writes of one millisecond differ by microseconds.
    const writtenMs = nowMs;
    a.site.nowMs = () => writtenMs;
    await a.commit([insert('accounts', 'x', { name: 'Cash' })]);
    await a.commit([update('accounts', 'x', { name: 'Purse' })]);
    await a.commit([update('accounts', 'x', { name: 'Wallet' })]);
    const times = (await page('accounts', 'x')).versions.map((version) => version.writtenMs);
    for (const ms of times) {
      const path = `/databases/household/history/written?table=accounts&from=${ms}&to=${ms}`;
      const response = await tested.server.ask('GET', path, { token: await tested.server.token('viewer') });
      const { count } = decodeWrittenRows(new Uint8Array(await response.arrayBuffer()));
      expect(count).toBe(times.filter((other) => other === ms).length);
    }
  });
});

describe('the rows of transactions', () => {
  const written = async (query: string): Promise<Response> =>
    tested.server.ask('GET', `/databases/household/history/written?${query}`, {
      token: await tested.server.token('viewer'),
    });

  it('are refused if versions since the first transaction are pruned, because deleted rows would be missing', async () => {
    await a.commit([insert('entries', 'e', { amount: 1n }), insert('accounts', 'x', { name: 'Cash' })]);
    await a.commit([remove('entries', 'e')]);
    await later(31);
    for (let rank = 0n; rank < 3n; rank++) await a.commit([update('accounts', 'x', { rank })]);
    expect(await (await written('version=1&table=entries')).json()).toMatchObject({
      code: 'history-moment-gone',
      fields: { reason: 'not-kept', table: 'entries' },
    });
  });

  it('are none for a site that has written nothing', async () => {
    await a.commit([insert('accounts', 'x', { name: 'Cash' })]);
    const response = await written(`site=${'7'.repeat(32)}&table=accounts`);
    expect(decodeWrittenRows(new Uint8Array(await response.arrayBuffer()))).toEqual({ upTo: 0, count: 0, rows: [] });
  });
});

describe('the history of a row', () => {
  it('contains each version with author, time, and values before and after', async () => {
    const b = await tested.server.open(undefined, { principal: 'bob' });
    await a.commit([insert('accounts', 'x', { name: 'Cash', rank: 1n })]);
    await b.delivery();
    await b.commit([update('accounts', 'x', { name: 'Purse' })]);
    await a.delivery();
    await a.commit([remove('accounts', 'x')]);
    const found = await page('accounts', 'x');
    expect(lines(found, 'name', 'rank')).toEqual([
      'delete name: Purse → null rank: 1 → null',
      'update name: Cash → Purse',
      'insert name: null → Cash rank: null → 1',
    ]);
    expect(found.versions.map(({ principal }) => principal)).toEqual(['ann', 'bob', 'ann']);
    expect(found.versions[1]).toMatchObject({ site: Buffer.from(b.site.siteId).toString('hex'), sequence: 1 });
    for (const { writtenMs, receivedMs } of found.versions) {
      expect(receivedMs).toBe(nowMs);
      // The server's clock stands still in this test; the clocks of the sites do not.
      expect(Math.abs(writtenMs - nowMs)).toBeLessThan(Date.now() - nowMs + 1_000);
    }
    expect(found).toMatchObject({ nextBefore: null, isTruncated: false });
  });

  it('shows results instead of requests: a write that loses creates no version', async () => {
    await a.commit([insert('accounts', 'x', { name: 'Cash' })]);
    nowMs += 120_000;
    const b = await tested.server.open();
    b.site.write([update('accounts', 'x', { name: 'late', rank: 7n })], { ageMs: 60_000 });
    await a.commit([update('accounts', 'x', { name: 'Purse' })]);
    b.push();
    await b.decided(1);
    expect(lines(await page('accounts', 'x'), 'name', 'rank')).toEqual([
      'update rank: null → 7',
      'update name: Cash → Purse',
      'insert name: null → Cash rank: null → null',
    ]);
  });

  it('includes its deletion by a cascade', async () => {
    await a.commit([insert('accounts', 'x', { name: 'Cash' })]);
    const b = await tested.server.open(undefined, { principal: 'bob' });
    await a.commit([insert('entries', 'e', { account_id: 'x', amount: 5n })]);
    await b.commit([remove('accounts', 'x')]);
    const { versions } = await page('entries', 'e');
    expect(versions.map(({ kind, principal }) => [kind, principal])).toEqual([
      ['delete', 'bob'],
      ['insert', 'ann'],
    ]);
  });

  it('is paged, and can be limited to a column', async () => {
    await a.commit([insert('accounts', 'x', { name: 'Cash', rank: 0n })]);
    for (let rank = 1n; rank <= 5n; rank++) await a.commit([update('accounts', 'x', { rank })]);
    await a.commit([update('accounts', 'x', { name: 'Purse' })]);
    const first = await page('accounts', 'x', '&limit=3');
    expect(lines(first, 'rank')).toEqual(['update', 'update rank: 4 → 5', 'update rank: 3 → 4']);
    const second = await page('accounts', 'x', `&limit=10&before=${first.nextBefore}`);
    expect(lines(second, 'rank')).toEqual([
      'update rank: 2 → 3',
      'update rank: 1 → 2',
      'update rank: 0 → 1',
      'insert rank: null → 0',
    ]);
    expect(second.nextBefore).toBeNull();
    expect(lines(await page('accounts', 'x', '&column=name'), 'name')).toEqual([
      'update name: Cash → Purse',
      'insert name: null → Cash',
    ]);
  });

  it('has smaller pages if the values are large', async () => {
    await a.commit([insert('pages', 'p', { title: '', content: null })]);
    for (let n = 1; n <= 3; n++) await a.commit([update('pages', 'p', { title: String(n).repeat(600_000) })]);
    const watermarks = async (more: string): Promise<unknown> => {
      const { versions, nextBefore } = await page('pages', 'p', `&limit=10${more}`);
      return [versions.map(({ watermark }) => watermark), nextBefore];
    };
    expect(await watermarks('')).toEqual([[4], 4]);
    expect(await watermarks('&before=4')).toEqual([[3], 3]);
    expect(await watermarks('&before=3')).toEqual([[2, 1], null]);
  });

  it('returns the row at any version, with its documents', async () => {
    const body = 'A long text that is stored once. '.repeat(20);
    const content = (text: string): Uint8Array => new TextEncoder().encode(`\u0003{"body":"${text}"}`);
    await a.commit([insert('pages', 'p', { title: 'One', content: content(body) })]);
    await a.commit([update('pages', 'p', { content: content(`${body}Two.`) })]);
    await a.commit([update('pages', 'p', { title: 'Two' })]);
    const { versions } = await page('pages', 'p');
    expect(versions.map(({ changes }) => changes.filter(({ values }) => values === null).length)).toEqual([0, 1, 1]);
    const text = async (version: number): Promise<unknown> =>
      (await rowAt('pages', 'p', version))?.get(columnIdOf('content'));
    expect(await text(3)).toBe(`{"body":"${body}Two."}`);
    expect(await text(1)).toBe(`{"body":"${body}"}`);
    expect((await rowAt('pages', 'p', 2))?.get(columnIdOf('title'))).toBe('One');
    const [[size] = []] = tested.server.query('SELECT sum(length(entry)) FROM rockpool_history');
    expect(Number(size)).toBeLessThan(100);
  });

  it('prunes versions after the retention of their table', async () => {
    await a.commit([insert('entries', 'e', { amount: 1n }), insert('accounts', 'x', { name: 'Cash' })]);
    await a.commit([update('entries', 'e', { amount: 2n }), update('accounts', 'x', { name: 'Purse' })]);
    await later(20);
    await a.commit([update('entries', 'e', { amount: 3n })]);
    await later(11);
    // Expired versions are hidden at once, and deleted by the next commit.
    expect(lines(await page('entries', 'e'), 'amount')).toEqual(['update amount: 2 → 3']);
    await a.commit([update('accounts', 'x', { rank: 1n })]);
    expect(await page('entries', 'e')).toMatchObject({ versions: [{ watermark: 3 }], isTruncated: true });
    expect(await page('accounts', 'x')).toMatchObject({ versions: [{}, {}, {}], isTruncated: false });
    expect(tested.server.query('SELECT watermark FROM rockpool_history ORDER BY watermark')).toEqual([
      [2n],
      [3n],
      [4n],
    ]);
    expect(await codeOf(ask('history/row', 'entries', 'e', '&version=2'))).toBe('history-version-gone');
  });

  it('keeps versions that precede one of a clock that was behind', async () => {
    await a.commit([insert('entries', 'e', { amount: 1n })]);
    await a.commit([update('entries', 'e', { amount: 2n })]);
    await later(20);
    await a.commit([update('entries', 'e', { amount: 3n })]);
    await later(-10_000);
    await a.commit([update('entries', 'e', { amount: 4n })]);
    await later(10_011);
    await a.commit([update('entries', 'e', { amount: 5n })]);
    expect(tested.server.query('SELECT watermark FROM rockpool_history ORDER BY watermark')).toEqual([
      [3n],
      [4n],
      [5n],
    ]);
  });

  it('is complete for a row that arrived deleted and was inserted after its tombstone was pruned', async () => {
    await a.commit([insert('accounts', 'x', { name: 'Cash' })]);
    await a.commit([remove('accounts', 'x'), insert('cards', 'c', { account_name: 'Cash' })]);
    await later(31);
    await a.commit([insert('accounts', 'y', { name: 'Bank' })]);
    await later(1);
    await a.commit([insert('cards', 'c', { account_name: 'Bank' })]);
    expect(await page('cards', 'c')).toMatchObject({
      versions: [{ kind: 'insert', watermark: 4 }],
      isTruncated: false,
    });
  });

  it('is empty for a key that never had a row', async () => {
    expect(await page('accounts', 'none')).toEqual({
      versions: [],
      nextBefore: null,
      isTruncated: false,
      laterColumns: [],
    });
  });

  it('fails with a typed error for a table without a history, an unknown table and invalid requests', async () => {
    expect(await codeOf(ask('history', 'labels', 'x'))).toBe('history-not-kept');
    expect(await codeOf(ask('history', 'rockpool_conflict', 'x'))).toBe('schema-unknown-table');
    expect(await codeOf(ask('history', 'accounts', 'x', '&before=-1'))).toBe('request-invalid');
    expect(await codeOf(ask('history', 'accounts', 'x', '&column=colour'))).toBe('schema-unknown-column');
    expect(await codeOf(ask('history/row', 'accounts', 'x', '&version=9'))).toBe('history-version-gone');
    const path = `/databases/household/history?table=accounts&key=${keyText('x')}`;
    expect(await codeOf(tested.server.ask('GET', path))).toBe('auth-token-invalid');
    const token = await tested.server.token('viewer', 'ann', 'other');
    expect(await codeOf(tested.server.ask('GET', path, { token }))).toBe('auth-database-forbidden');
  });

  it('stores nothing for tables without a history, or for the first insert of a row', async () => {
    await a.commit([insert('labels', ['x', 1n], {}), insert('accounts', 'x', { name: 'Cash' })]);
    await a.commit([remove('labels', ['x', 1n])]);
    expect(tested.server.query('SELECT count(*) FROM rockpool_history')).toEqual([[0n]]);
  });
});
