import type { CellValue } from '@rockpool/shared';
import {
  createDocument,
  decodeDocumentCell,
  documentText,
  encodeDocumentCell,
  mergeEdit,
  parseJson,
} from '@rockpool/shared/document';
import { HOSTILE_START, hostileEdits } from '@rockpool/shared/testing';
import { describe, expect, it } from 'vitest';
import { cpuMs } from '../../../../tests/kit/cpu-time.ts';
import { insert, remove, update } from '../../testing/changeset.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { DATABASE } from '../../testing/test-server.ts';
import { Page, PAGE_RULE as RULE } from '../../testing/test-page.ts';

const tested = serverUnderTest();

const json = (text: string) => parseJson(text, RULE);
const content = (text: string): CellValue => encodeDocumentCell({ kind: 'content', json: text });
const stored = (): unknown => tested.server.query(`SELECT content FROM pages WHERE id = 'p'`)[0]?.[0];

/** Two clients that share one page. */
async function two(start: string): Promise<[Page, Page]> {
  const a = new Page(await tested.server.open(undefined, { principal: 'ann' }));
  const b = new Page(await tested.server.open(undefined, { principal: 'ben' }));
  await a.connection.commit([insert('pages', 'p', { title: 'page', content: content(start) })]);
  a.state = createDocument(json(start), RULE);
  b.takeDelivery(await b.connection.delivery());
  return [a, b];
}

describe('a document', () => {
  it('is stored in the column as plain JSON, the same on every replica', async () => {
    const [a, b] = await two('{"body":"low tide","n":1}');
    expect(stored()).toBe('{"body":"low tide","n":1}');
    expect(documentText(b.state)).toBe(documentText(a.state));
  });

  it('merges concurrent edits of two people in any order without loss', async () => {
    const [a, b] = await two('{"body":"low tide","n":1}');
    a.connection.site.write([update('pages', 'p', { content: a.edit('{"body":"very low tide","n":1}') })]);
    b.connection.site.write([update('pages', 'p', { content: b.edit('{"body":"low tide!","m":2,"n":1}') })], {
      ageMs: 60_000,
    });
    await a.meet();
    await b.meet();
    a.takeDelivery(await a.connection.delivery());
    expect([stored(), documentText(a.state), documentText(b.state)]).toEqual(
      new Array(3).fill('{"body":"very low tide!","m":2,"n":1}'),
    );
    expect(tested.server.query('SELECT id FROM rockpool_conflict')).toEqual([]);
  });

  it('logs concurrent writes to one path with values and authors, and logs nothing else [MR-23]', async () => {
    const [a, b] = await two('{"body":"tide","items":[{"id":"x","n":1}],"tags":["red"],"title":"old"}');
    a.connection.site.write([
      update('pages', 'p', {
        content: a.edit('{"body":"tide","by":{"name":"ann"},"items":[{"id":"x","n":2}],"tags":["red"],"title":"ann"}'),
      }),
    ]);
    b.connection.site.write([
      update('pages', 'p', {
        content: b.edit(
          '{"body":"low tide","by":{"name":"ben"},"items":[{"id":"x","n":3}],"tags":["red","blue"],"title":"ann"}',
        ),
      }),
    ]);
    await a.meet();
    await b.meet();
    const stands = JSON.parse(String(stored())) as { by: { name: string }; items: [{ n: number }] };
    const ofAnn = stands.by.name === 'ann';
    const conflicts = tested.server
      .query(
        'SELECT path, column_name, rule, lost_value, won_value, lost_by, won_by FROM rockpool_conflict ORDER BY path',
      )
      .map((row) => row.map(String));
    const authors = (annWon: boolean): string[] => (annWon ? ['ben', 'ann'] : ['ann', 'ben']);
    const nOfAnn = stands.items[0].n === 2;
    expect(conflicts).toEqual([
      [
        '["by"]',
        'content',
        'lww',
        ...(ofAnn ? ['{"name":"ben"}', '{"name":"ann"}'] : ['{"name":"ann"}', '{"name":"ben"}']),
        ...authors(ofAnn),
      ],
      ['["items",{"id":"x"},"n"]', 'content', 'lww', ...(nOfAnn ? ['3', '2'] : ['2', '3']), ...authors(nOfAnn)],
    ]);
    const before = conflicts.length;
    b.takeDelivery(
      await (async () => {
        await a.connection.commit([update('pages', 'p', { title: 'seen' })]);
        return b.connection.delivery();
      })(),
    );
    await b.connection.commit([
      update('pages', 'p', { content: b.edit(String(stored()).replace('"title":"ann"', '"title":"new"')) }),
    ]);
    expect(tested.server.query('SELECT id FROM rockpool_conflict')).toHaveLength(before);
  });

  it('costs a reader the size of the edits instead of the size of the document', async () => {
    const [a, b] = await two(JSON.stringify({ body: 'x'.repeat(50_000) }));
    await a.connection.commit([
      update('pages', 'p', { content: a.edit(JSON.stringify({ body: `${'x'.repeat(50_000)}!` })) }),
    ]);
    const delivery = await b.connection.delivery();
    const [value] = delivery.groups[0]?.values[0] ?? [];
    expect((value as Uint8Array).length).toBeLessThan(100);
    b.takeDelivery(delivery);
    expect(documentText(b.state)).toBe(stored());
  });

  it('is delivered whole to a client that missed more edits than are kept', async () => {
    const [a, b] = await two('{"n":0}');
    await b.connection.close();
    for (let n = 1; n <= 127; n++) a.connection.site.write([update('pages', 'p', { content: a.edit(`{"n":${n}}`) })]);
    await a.meet();
    const again = await tested.server.connect(b.connection.site);
    const { first } = await again.open(await tested.server.token(), DATABASE);
    b.takeDelivery(first);
    expect(documentText(b.state)).toBe('{"n":127}');
  });

  it.each([[null], ['{"another":1}']])(
    'leaves late edits in the conflict log after it was replaced by another document (%s) [MR-30]',
    async (other) => {
      const [a, b] = await two('{"n":1}');
      b.connection.site.write([update('pages', 'p', { content: b.edit('{"n":2}') })]);
      await a.connection.commit([update('pages', 'p', { content: null })]);
      if (other !== null) await a.connection.commit([update('pages', 'p', { content: content(other) })]);
      await b.meet();
      expect(stored()).toBe(other);
      expect(b.state === null ? null : documentText(b.state)).toBe(other);
      // The path is that of the whole document, so that NULL is not mistaken for a written value.
      expect(
        tested.server.query('SELECT column_name, rule, path, lost_value, won_value FROM rockpool_conflict'),
      ).toEqual([['content', 'lww', '[]', null, other]]);
    },
  );

  it('leaves the result of a late edit in the conflict log after it was deleted [MR-31]', async () => {
    const [a, b] = await two('{"n":1}');
    b.connection.site.write([update('pages', 'p', { content: b.edit('{"n":2}') })]);
    await a.connection.commit([remove('pages', 'p')]);
    await b.meet();
    expect(tested.server.query('SELECT column_name, rule, lost_value FROM rockpool_conflict')).toEqual([
      ['content', 'delete-wins', '{"n":2}'],
    ]);
    expect(tested.server.query('SELECT count(*) FROM rockpool_document')).toEqual([[0n]]);
  });
});

const AT_ONCE = 24;

/**
 * Whether to push after the n-th edit: two dozen edits are pushed at once, then one alone. If each were pushed alone,
 * the test would wait for the server after each. If none were, the server would not compact, because it waits while the
 * author has edits under way.
 */
function pushesAfter(n: number): boolean {
  return n % (AT_ONCE + 1) === 0 || n % (AT_ONCE + 1) === AT_ONCE;
}

/**
 * Members that an edit overwrites one by one. What remains of each stays in the document, which therefore grows by some
 * hundred bytes per edit.
 */
function counts(n: number): string {
  return `"counts":{${Array.from({ length: 20 }, (_, i) => `"${String.fromCodePoint(97 + i)}":${n}`).join()}}`;
}

/**
 * Edits a page, each time in a new session, until its document has grown so far that it is compacted. Returns
 * the number of edits.
 */
async function growUntilCompacted(page: Page, contentOf: (n: number) => string): Promise<number> {
  for (let n = 1; n <= 700; n++) {
    page.generation = n;
    page.connection.site.write([update('pages', 'p', { content: page.edit(contentOf(n)) })]);
    if (pushesAfter(n)) await page.meet();
    if (pushesAfter(n) && tested.server.query('SELECT 1 FROM rockpool_document_replaced').length > 0) return n;
  }
  throw new Error('not compacted');
}

async function comeBack(page: Page, principal: string): Promise<Page> {
  const again = await tested.server.connect(page.connection.site);
  const { first } = await again.open(await tested.server.token('editor', principal), DATABASE);
  const late = new Page(again);
  late.takeDelivery(first);
  await late.meet();
  return late;
}

const conflicts = (): string[][] =>
  tested.server
    .query(
      'SELECT column_name, path, rule, lost_value, won_value, lost_by, won_by, lost_site FROM rockpool_conflict ORDER BY path',
    )
    .map((row) => row.map(String));

describe('the author of an edit', () => {
  it('is known even if the edit itself is no longer kept [MR-78]', async () => {
    const [a, b] = await two('{"n":0,"title":"old"}');
    b.connection.site.write([update('pages', 'p', { content: b.edit('{"n":0,"title":"ben"}') })]);
    await b.connection.close();
    await a.connection.commit([update('pages', 'p', { content: a.edit('{"n":0,"title":"ann"}') })]);
    for (let n = 1; n <= 127; n++)
      a.connection.site.write([update('pages', 'p', { content: a.edit(`{"n":${n},"title":"ann"}`) })]);
    await a.meet();
    expect(tested.server.query('SELECT count(*) FROM rockpool_document_edit')).toEqual([[64n]]);
    await comeBack(b, 'ben');
    const [[, path, , lost, won, lostBy, wonBy] = [], ...more] = conflicts();
    expect([path, more]).toEqual(['["title"]', []]);
    expect(new Set([`${lost} of ${lostBy}`, `${won} of ${wonBy}`])).toEqual(new Set(['"ann" of ann', '"ben" of ben']));
    const [[lostAt, wonAt] = []] = tested.server.query('SELECT lost_at_ms, won_at_ms FROM rockpool_conflict');
    expect([lostAt, wonAt].every((at) => Number(at) > 0)).toBe(true);
  });
});

describe('a document that has grown far beyond its content', () => {
  it('logs what late edits of its predecessor overwrite, with path, values and authors [MR-29]', async () => {
    const [a, b] = await two('{"by":{"name":"none"},"n":0,"title":"old"}');
    const c = new Page(await tested.server.open(undefined, { principal: 'cid' }));
    c.state = b.state;
    b.connection.site.write([update('pages', 'p', { content: b.edit('{"by":{"name":"none"},"n":0,"title":"ben"}') })]);
    await b.connection.close();
    c.connection.site.write([update('pages', 'p', { content: c.edit('{"n":0,"title":"cid"}') })]);
    await c.connection.close();
    const rest = (n: number): string =>
      `${counts(n)},"list":[${Array.from({ length: n % 9 }, (_, id) => `{"id":${id}}`).join()}],"n":${n}`;
    const n = await growUntilCompacted(a, (n) => `{"by":{"name":"none"},${rest(n)},"title":"old"}`);
    await a.connection.commit([
      update('pages', 'p', { content: a.edit(`{"by":{"name":"ann"},${rest(n)},"title":"ann"}`) }),
    ]);
    // Ben overwrites Ann's title without having seen it.
    await comeBack(b, 'ben');
    expect(JSON.parse(String(stored()))).toMatchObject({ by: { name: 'ann' }, n, title: 'ben' });
    const site = (page: Page): string => Buffer.from(page.connection.site.siteId).toString('hex');
    const ofAnn = ['content', '["title"]', 'lww', '"ann"', '"ben"', 'ann', 'ben', site(a)];
    expect(conflicts()).toEqual([ofAnn]);
    // Cid has seen neither edit; one of them is already carried over.
    await comeBack(c, 'cid');
    const now = JSON.parse(String(stored())) as { title: string };
    expect(now).not.toHaveProperty('by');
    const title =
      now.title === 'cid' ? ['"ben"', '"cid"', 'ben', 'cid', site(b)] : ['"cid"', '"ben"', 'cid', 'ben', site(c)];
    expect(conflicts().filter((row) => row.join() !== ofAnn.join())).toEqual([
      ['content', '["by"]', 'lww', '{"name":"ann"}', 'null', 'ann', 'cid', site(a)],
      ['content', '["title"]', 'lww', ...title],
    ]);
  });

  it('names the author of an overwritten value even if the value was carried over', async () => {
    const [a, b] = await two('{"n":0,"title":"old"}');
    b.connection.site.write([update('pages', 'p', { content: b.edit('{"n":0,"title":"ben"}') })]);
    await b.connection.close();
    const n = await growUntilCompacted(
      a,
      (n) =>
        `{${counts(n)},"list":[${Array.from({ length: n % 9 }, (_, id) => `{"id":${id}}`).join()}],"n":${n},"title":"old"}`,
    );
    const unseen = a.edit(String(stored()).replace('"title":"old"', '"title":"ann"'));
    await comeBack(b, 'ben');
    a.connection.site.write([update('pages', 'p', { content: unseen })]);
    await a.meet();
    const { title } = JSON.parse(String(stored())) as { title: string };
    const expected = title === 'ann' ? ['"ben"', '"ann"', 'ben', 'ann'] : ['"ann"', '"ben"', 'ann', 'ben'];
    expect(conflicts().map((row) => row.slice(1, 7))).toEqual([['["title"]', 'lww', ...expected]]);
    expect(n).toBeGreaterThan(0);
  });

  it('is replaced by a document without history, and still accepts late edits of the old one [MR-28]', async () => {
    const [a, b] = await two('{"body":"start","n":0,"note":[{"insert":"low tide"}]}');
    // Every edit has a new site id, and what remains of it stays in the document forever.
    b.connection.site.write([
      update('pages', 'p', {
        content: b.edit(
          '{"body":"start, said ben","n":0,"note":[{"insert":"low "},{"attributes":{"bold":true},"insert":"tide"}]}',
        ),
      }),
    ]);
    await b.connection.close();
    const rest = (n: number): string =>
      `${counts(n)},"list":[${Array.from({ length: n % 9 }, (_, id) => `{"id":${id}}`).join()}],"n":${n}`;
    const n = await growUntilCompacted(a, (n) => `{"body":"start",${rest(n)},"note":[{"insert":"Now: low tide"}]}`);
    const sizeBytes = tested.server.query('SELECT length(state) FROM rockpool_document')[0]?.[0];
    expect(Number(sizeBytes)).toBeLessThan(17 * 1024);
    expect(tested.server.query('SELECT count(*) FROM rockpool_document_replaced')).toEqual([[1n]]);
    const again = await tested.server.connect(b.connection.site);
    const { first } = await again.open(await tested.server.token('editor', 'ben'), DATABASE);
    const late = new Page(again);
    late.takeDelivery(first);
    await late.meet();
    expect(stored()).toBe(
      `{"body":"start, said ben",${rest(n)},"note":[{"insert":"Now: low "},{"attributes":{"bold":true},"insert":"tide"}]}`,
    );
    a.takeDelivery(await a.connection.delivery());
    expect([documentText(a.state), documentText(late.state)]).toEqual([stored(), stored()]);
  });
});

describe('an edit of a document that the server does not have', () => {
  it('is rejected if it can be made again, because the document was compacted twice [MR-28]', async () => {
    const [a, b] = await two('{"n":0,"title":"old"}');
    b.connection.site.write([update('pages', 'p', { content: b.edit('{"n":0,"title":"ben"}') })]);
    await b.connection.close();
    const contentOf = (n: number): string => `{${counts(n)},"list":[${n % 2}],"n":${n},"title":"old"}`;
    await growUntilCompacted(a, contentOf);
    const idOf = (): unknown => tested.server.query('SELECT substr(state, 2, 8) FROM rockpool_document')[0]?.[0];
    const first = idOf();
    for (let n = 1000; String(idOf()) === String(first); n++) {
      a.generation = n;
      a.connection.site.write([update('pages', 'p', { content: a.edit(contentOf(n)) })]);
      if (pushesAfter(n)) await a.meet();
    }
    const before = stored();
    const again = await tested.server.connect(b.connection.site);
    await again.open(await tested.server.token('editor', 'ben'), DATABASE);
    again.push();
    expect(await again.decided(1)).toMatchObject({ outcomes: [{ kind: 'rejected', code: 'document-gap' }] });
    expect(stored()).toBe(before);
    expect(tested.server.query('SELECT path FROM rockpool_conflict')).toEqual([]);
  });

  it.each([true, false])(
    'is in the conflict log if it belongs to different content that lost, whether its author has seen the current one (%s) or not [MR-30]',
    async (isSeen) => {
      const [a, b] = await two('{"n":0}');
      const contentOf = (n: number): string => `{"body":"",${counts(n)},"list":[${n % 2}],"n":${n}}`;
      if (!isSeen) await growUntilCompacted(a, contentOf);
      await a.connection.commit([update('pages', 'p', { content: null })]);
      b.connection.site.write([update('pages', 'p', { content: content('{"body":"Mine"}') })], { ageMs: 60_000 });
      b.state = createDocument(json('{"body":"Mine"}'), RULE);
      await b.connection.close();
      await a.connection.commit([update('pages', 'p', { content: content(contentOf(0)) })]);
      a.state = createDocument(json(contentOf(0)), RULE);
      await growUntilCompacted(a, contentOf);
      const base = isSeen ? a.connection.site.cursor : b.connection.site.cursor;
      b.connection.site.write([update('pages', 'p', { content: b.edit('{"body":"Mine too"}') })], { base });
      const before = stored();
      const again = await tested.server.connect(b.connection.site);
      await again.open(await tested.server.token('editor', 'ben'), DATABASE);
      again.push();
      expect(await again.decided(2)).toMatchObject({ outcomes: [{ kind: 'admitted' }, { kind: 'admitted' }] });
      expect(stored()).toBe(before);
      expect(tested.server.query('SELECT path, lost_value FROM rockpool_conflict')).toEqual(
        expect.arrayContaining([
          [null, '{"body":"Mine"}'],
          ['[]', null],
        ]),
      );
    },
  );
});

describe('a forged edit', () => {
  it('is rejected, and leaves the document unchanged', async () => {
    const [a] = await two('{"n":1}');
    const state = createDocument(json('{"n":3}'), RULE);
    expect(await a.connection.commit([update('pages', 'p', { content: state })])).toMatchObject({
      kind: 'rejected',
      code: 'document-invalid',
    });
    expect(await a.connection.commit([update('pages', 'p', { content: '{"n":2}' })])).toMatchObject({
      kind: 'rejected',
      code: 'document-invalid',
    });
    expect(await a.connection.commit([insert('pages', 'q', { content: content('{"__proto__":1}') })])).toMatchObject({
      kind: 'rejected',
      code: 'document-invalid',
    });
    const lost = a.edit('{"n":4}');
    expect(await a.connection.commit([update('pages', 'p', { content: a.edit('{"n":5}') })])).toMatchObject({
      kind: 'rejected',
      code: 'document-gap',
    });
    expect(await a.connection.commit([update('pages', 'p', { content: lost })])).toMatchObject({ kind: 'admitted' });
    expect(stored()).toBe('{"n":4}');
  });

  it('cannot carry the id of another site', async () => {
    const [a, b] = await two('{"n":1}');
    const forged = b.edit('{"n":2}');
    expect(mergeEdit(a.state, forged)).not.toBeNull();
    expect(await a.connection.commit([update('pages', 'p', { content: forged })])).toMatchObject({
      kind: 'rejected',
      code: 'document-invalid',
    });
  });
});

describe('a malicious edit', () => {
  it('is rejected and leaves the document unchanged, while another client keeps editing it', async () => {
    const [attacker, other] = await two(JSON.stringify(HOSTILE_START));
    const { documentId, update: start } = decodeDocumentCell(attacker.state) as {
      documentId: Uint8Array;
      update: Uint8Array;
    };
    const edits = hostileEdits({
      update: start,
      site: Buffer.from(attacker.connection.site.siteId).toString('hex'),
      maxLength: RULE.maxLength,
    });
    let slowestMs = 0;
    for (const [index, [what, hostile]] of edits.entries()) {
      attacker.connection.site.write([
        update('pages', 'p', {
          content: encodeDocumentCell({ kind: 'edit', documentId, generation: 1, update: hostile }),
        }),
      ]);
      attacker.connection.push();
      const startMs = cpuMs();
      other.connection.site.write([
        update('pages', 'p', { content: other.edit(JSON.stringify({ ...HOSTILE_START, n: index })) }),
      ]);
      await other.meet();
      slowestMs = Math.max(slowestMs, cpuMs() - startMs);
      expect(stored(), what).toBe(documentText(other.state));
    }
    expect(tested.server.query(`SELECT count(*) FROM rockpool_outcome WHERE error_code = 'document-invalid'`)).toEqual([
      [BigInt(edits.length)],
    ]);
    // Detects a hang; it does not measure speed.
    expect(slowestMs).toBeLessThan(20_000);
  });
});
