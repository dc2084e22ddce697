import { documentOf, GROUPS, TOTAL_KIB } from './dataset.ts';
import type { StoreName } from './store-name.ts';
import { openStore, type Store } from './stores.ts';

/** One figure of one store. */
export interface DocumentFigure {
  readonly test: string;
  readonly unit: 'ms' | 'bytes';
  readonly value: number;
}

/** Edits of one document, one transaction each: enough to measure more than the first run of the code. */
const EDITS = 40;
const WARM_UP_EDITS = 20;

/**
 * Runs eight tests from an article on a JSON store with structural sharing (dump, import, copy with a small change,
 * extract, filter, order, index, disk space), and a ninth: a small edit of one document, with the bytes that it sends
 * and that the changelog keeps (for plain JSON: the whole document). `extract` is the first query after the copies are
 * written, and starts with the caches as that write left them; `extract again` repeats it. Throws if a result is wrong.
 */
export async function measureDocuments(name: StoreName, file: string, sizeKiB: number): Promise<DocumentFigure[]> {
  const store = await openStore(name, file);
  try {
    const isCaptured = name.startsWith('rockpool');
    const count = TOTAL_KIB / sizeKiB;
    const texts = Array.from({ length: count }, (_, number) => documentOf(number, sizeKiB * 1024));
    const timed = (test: string, body: () => void): DocumentFigure => {
      const startMs = performance.now();
      body();
      return { test, unit: 'ms', value: performance.now() - startMs };
    };
    const inGroup = Math.ceil((2 * count) / GROUPS);
    /** Plain JSON sends and logs the whole text. */
    const ofLastEdit = (bytes: string): number =>
      Number(
        store.connection.value(
          isCaptured
            ? `SELECT ${bytes} FROM rockpool_changelog ORDER BY sequence DESC LIMIT 1`
            : `SELECT length(${store.read}) FROM page WHERE id = '${idOf(0)}'`,
        ),
      );
    const filter = `SELECT count(*) FROM page WHERE content ->> 'group' = 0`;
    return [
      timed('import', () =>
        store.run(
          texts.map((text, number) => [
            `INSERT INTO page (id, content) VALUES (?, ${store.write('?')})`,
            idOf(number),
            text,
          ]),
        ),
      ),
      timed('dump', () =>
        expectEqual(
          'dump',
          rowsOf(store, `SELECT ${store.read} FROM page`).reduce((sum, [text]) => sum + String(text).length, 0),
          texts.reduce((sum, text) => sum + text.length, 0),
        ),
      ),
      timed('copy with a small change', () =>
        store.run([
          [
            `INSERT INTO page (id, content) SELECT 'copy of ' || id, ${store.set}(content, '$.note', 'a copy') FROM page`,
          ],
        ]),
      ),
      timed('extract', () =>
        expectEqual('extract', rowsOf(store, `SELECT content ->> 'n' FROM page`).length, 2 * count),
      ),
      timed('extract again', () =>
        expectEqual('extract', rowsOf(store, `SELECT content ->> 'n' FROM page`).length, 2 * count),
      ),
      timed('filter', () => expectEqual('filter', Number(store.connection.value(filter)), inGroup)),
      timed('order', () =>
        expectEqual('order', rowsOf(store, `SELECT id FROM page ORDER BY content ->> 'n'`).length, 2 * count),
      ),
      timed('index', () => store.connection.exec(`CREATE INDEX page_by_group ON page (content ->> 'group')`)),
      timed('filter by the index', () => expectEqual('filter', Number(store.connection.value(filter)), inGroup)),
      edits(store, timed),
      { test: 'bytes sent of a small edit', unit: 'bytes', value: ofLastEdit('length(body)') },
      {
        test: 'bytes logged of a small edit',
        unit: 'bytes',
        value: ofLastEdit('length(body) + length(before) + length(hash)'),
      },
      {
        test: 'disk space',
        unit: 'bytes',
        value: Number(store.connection.value('PRAGMA page_count')) * Number(store.connection.value('PRAGMA page_size')),
      },
    ];
  } finally {
    await store.close();
  }
}

function edits(store: Store, timed: (test: string, body: () => void) => DocumentFigure): DocumentFigure {
  const edit = (number: number): void =>
    store.run([
      [`UPDATE page SET content = ${store.set}(content, '$.items[3].note', ?) WHERE id = ?`, `edit ${number}`, idOf(0)],
    ]);
  // The first edit derives a document from the JSON.
  for (let number = 0; number < WARM_UP_EDITS; number++) edit(number);
  const { test, unit, value } = timed('small edit', () => {
    for (let number = 1; number <= EDITS; number++) edit(number);
  });
  expectEqual(
    'edit',
    Number(store.connection.value(`SELECT count(*) FROM page WHERE content ->> '$.items[3].note' = 'edit ${EDITS}'`)),
    1,
  );
  return { test, unit, value: value / EDITS };
}

function idOf(number: number): string {
  return `page-${number}`;
}

function rowsOf(store: Store, sql: string): readonly (readonly unknown[])[] {
  return store.connection.rows(sql);
}

function expectEqual(what: string, actual: number, expected: number): void {
  if (actual !== expected) throw new Error(`${what}: ${actual} instead of ${expected}`);
}
