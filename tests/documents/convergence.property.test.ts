import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  buildSchema,
  DEFAULT_DOCUMENT_RULE,
  DEFAULT_MERGE_RULES,
  documentColumns,
  RockpoolError,
  type CellValue,
  type DocumentRule,
  type DocumentStorage,
  type Schema,
  type TableSchema,
} from '#shared/index.ts';
import {
  canonicalJson,
  createDocument,
  documentText,
  rootValue,
  type JsonValue,
  type MapNode,
} from '#shared/document/index.ts';
import { documentStateHash } from '#shared/testing/document-state-hash.ts';
import { json, richText } from '#shared/testing/json-arbitraries.ts';
import { plainYjs } from '#shared/testing/plain-yjs.ts';
import { sampleColumn, sampleTable } from '#shared/testing/index.ts';
import { LiveDatabase } from '#sync-server/database/live-database.ts';
import { openDatabaseFile } from '#sync-server/store/database-file.ts';
import { temporaryFolder } from '#kit/temporary-folder.ts';
import { MeetingDevice } from './meeting-device.ts';
import { documentStates, type AskForValue } from './document-states.ts';
import { OpenPages, type Text } from './open-pages.ts';
import { atLevel } from '#kit/level.ts';

const schema = schemaOf('text');
const binarySchema = schemaOf('binary');

function schemaOf(storage: DocumentStorage): Schema {
  return buildSchema([
    sampleTable(
      'page',
      [sampleColumn('id', 'text', { notNull: true }), sampleColumn('title', 'text'), sampleColumn('content', 'text')],
      {
        uniques: [['title']],
        merge: {
          ...DEFAULT_MERGE_RULES,
          documents: [
            {
              ...DEFAULT_DOCUMENT_RULE,
              column: 'content',
              text: ['body', '*.body', 'items.*'],
              richText: ['note', 'notes.*'],
              storage,
            },
          ],
        },
      },
    ),
  ]);
}

let folder: string;
let server: LiveDatabase;

beforeEach(() => {
  folder = temporaryFolder();
  begin();
});

afterEach(() => {
  void server.close();
});

let files = 0;

/** The backup that the next server starts with, if any. */
function nextFile(): string {
  return join(folder, `${files}.sqlite`);
}

function begin(): void {
  const path = nextFile();
  files++;
  server = new LiveDatabase(openDatabaseFile(path, schema), {
    onFailure: (error) => {
      throw error;
    },
  });
}

const ROWS = 'SELECT id, title, content FROM page ORDER BY id';

function stored(): unknown {
  return server.file.sql.all(ROWS);
}

/** Every other device stores documents as JSONB. */
function device(number: number): MeetingDevice {
  return new MeetingDevice(server, number % 2 === 0 ? binarySchema : schema, new Uint8Array(16).fill(number));
}

type Step =
  | {
      readonly act: 'create' | 'replace';
      readonly by: number;
      readonly page: string;
      readonly content: JsonValue | null;
    }
  /** Edited in the Y.Doc of an open page. */
  | { readonly act: 'type'; readonly by: number; readonly page: string; readonly content: JsonValue }
  | {
      readonly act: 'title';
      readonly by: number;
      readonly page: string;
      readonly title: string;
      readonly content: JsonValue;
    }
  | { readonly act: 'delete' | 'meet'; readonly by: number; readonly page: string };

/** Half of the documents have formatted texts, addressed by name or by position. */
const content: fc.Arbitrary<JsonValue> = fc.oneof(
  json,
  fc.record({
    body: fc.string({ maxLength: 3 }),
    note: fc.option(richText, { freq: 10 }),
    notes: fc.array(richText, { maxLength: 2 }),
    value: json,
  }),
);

/** Large enough to have a base state. */
const large: fc.Arbitrary<JsonValue> = fc
  .tuple(json, richText)
  .map(([value, note]) => ({ filler: 'x'.repeat(9 * 1024), note, value }));

function steps(devices: number, contents = content): fc.Arbitrary<Step[]> {
  const by = fc.nat({ max: devices - 1 });
  const page = fc.constantFrom('p', 'q');
  const step = (act: Step['act'], more: Readonly<Record<string, fc.Arbitrary<unknown>>> = {}): fc.Arbitrary<Step> =>
    fc.record({ act: fc.constant(act), by, page, ...more }) as unknown as fc.Arbitrary<Step>;
  return fc.array(
    fc.oneof(
      { arbitrary: step('create', { content: fc.option(contents) }), weight: 2 },
      { arbitrary: step('replace', { content: fc.option(contents, { freq: 20 }) }), weight: 8 },
      { arbitrary: step('type', { content: contents }), weight: 6 },
      // Titles are unique: the server rejects some of these writes, and later edits depend on them.
      { arbitrary: step('title', { title: fc.constantFrom('one', 'two'), content: contents }), weight: 3 },
      { arbitrary: step('delete'), weight: 1 },
      { arbitrary: step('meet'), weight: 6 },
    ),
    { minLength: 3, maxLength: 25 },
  );
}

function perform(subject: MeetingDevice, step: Exclude<Step, { act: 'type' }>): void {
  try {
    if (step.act === 'create')
      subject.write(
        'INSERT INTO page (id, content) VALUES (?, ?) ON CONFLICT DO UPDATE SET content = excluded.content',
        step.page,
        text(step.content),
      );
    else if (step.act === 'replace')
      subject.write('UPDATE page SET content = ? WHERE id = ?', text(step.content), step.page);
    else if (step.act === 'title')
      subject.write('UPDATE page SET title = ?, content = ? WHERE id = ?', step.title, text(step.content), step.page);
    else subject.write('DELETE FROM page WHERE id = ?', step.page);
  } catch (error) {
    if (!(error instanceof RockpoolError) || error.code !== 'constraint-unique') throw error;
  }
}

function text(content: JsonValue | null): string | null {
  return content === null ? null : JSON.stringify(content);
}

async function runHistory(count: number, history: readonly Step[]): Promise<void> {
  void server.close();
  begin();
  const devices = Array.from({ length: count }, (_, index) => device(index + 1));
  const pages = new OpenPages();
  for (const step of history) {
    const subject = devices[step.by] as MeetingDevice;
    if (step.act === 'meet') await subject.meet();
    else if (step.act === 'type') await pages.type(subject, step.page, step.content);
    else perform(subject, step);
    await pages.follow(subject);
    for (const [, , content] of subject.rows(ROWS))
      if (content !== null) expect(canonicalJson(JSON.parse(content as string) as JsonValue)).toBe(content);
  }
  // Several rounds, because edits that are re-created after a rejection are sent at the device's next meeting with the
  // server.
  for (let round = 0; round < 4; round++) for (const subject of devices) await subject.meet();
  for (const subject of devices) await pages.follow(subject);
  for (const subject of devices) {
    expect(subject.rows(ROWS)).toEqual(stored());
    expect(states((sql, ...params) => subject.database.connection.value(sql, ...params) as CellValue)).toBe(
      states((sql, ...params) => server.file.sql.get(sql, ...params)?.[0] as CellValue),
    );
    expect(subject.rows('SELECT count(*) FROM rockpool_base')).toEqual([[0]]);
    expect(subject.database.outbox.pendingCount()).toBe(0);
    expect(
      subject.rows(
        'SELECT count(*) FROM rockpool_document_base AS base WHERE NOT EXISTS (SELECT 1 FROM rockpool_document AS document WHERE instr(document.state, base.id))',
      ),
    ).toEqual([[0]]);
  }
  for (const { database } of devices) database.close();
}

function states(ask: AskForValue): string {
  return documentStates(
    schema.tables[0] as TableSchema,
    server.file.sql.all('SELECT id FROM page ORDER BY id').map(([id]) => String(id)),
    ask,
  );
}

describe('documents edited through SQL and in open pages, offline and online', () => {
  it('converge for two devices', async () => {
    await fc.assert(
      fc.asyncProperty(steps(2), (history) => runHistory(2, history)),
      { numRuns: atLevel({ test: 4, verify: 25 }) },
    );
  });

  it('converge for five devices [MR-32]', async () => {
    await fc.assert(
      fc.asyncProperty(steps(5), (history) => runHistory(5, history)),
      { numRuns: atLevel({ test: 3, verify: 15 }) },
    );
  });

  it('converge when they are large, and leave no unused base', async () => {
    await fc.assert(
      fc.asyncProperty(steps(3, large), (history) => runHistory(3, history)),
      { numRuns: atLevel({ test: 4, verify: 25 }) },
    );
  });

  it('equal the result of plain Yjs for the same edits in any order', async () => {
    const by = fc.nat({ max: 4 });
    const page = fc.constant('p');
    // No NULL, because a document that is written after NULL would be a new one.
    const present = content.filter((value) => value !== null);
    const step = fc.oneof(
      fc.record({ act: fc.constant('replace' as const), by, page, content: present }),
      fc.record({ act: fc.constant('type' as const), by, page, content: present }),
      fc.record({ act: fc.constant('meet' as const), by, page }),
    );
    await fc.assert(
      fc.asyncProperty(present, fc.array(step, { minLength: 3, maxLength: 25 }), async (start, history) => {
        void server.close();
        begin();
        const devices = Array.from({ length: 5 }, (_, index) => device(index + 1));
        const pages = new OpenPages();
        devices[0]?.write("INSERT INTO page (id, content) VALUES ('p', ?)", text(start));
        for (const subject of devices) await subject.meet();
        for (const done of history) {
          const subject = devices[done.by] as MeetingDevice;
          if (done.act === 'meet') await subject.meet();
          else if (done.act === 'type') await pages.type(subject, done.page, done.content);
          else perform(subject, done);
          await pages.follow(subject);
        }
        for (let round = 0; round < 2; round++) for (const subject of devices) await subject.meet();
        const [rule] = documentColumns(schema.tables[0] as TableSchema).values();
        const oracle = plainYjs(
          createDocument(start, rule as DocumentRule),
          devices.flatMap(({ sentEdits }) => sentEdits).reverse(),
        );
        for (const subject of devices) {
          expect(subject.rows('SELECT content FROM page')).toEqual([[documentText(oracle)]]);
          expect(states((sql, ...params) => subject.database.connection.value(sql, ...params) as CellValue)).toBe(
            `p ${documentStateHash(oracle)}`,
          );
          subject.database.close();
        }
        expect(states((sql, ...params) => server.file.sql.get(sql, ...params)?.[0] as CellValue)).toBe(
          `p ${documentStateHash(oracle)}`,
        );
      }),
      { numRuns: atLevel({ test: 4, verify: 25 }) },
    );
  });

  it('keep the edits of both writers', async () => {
    const [a, b] = [device(1), device(2)];
    a.write("INSERT INTO page (id, content) VALUES ('p', ?)", '{"body":"low tide", "items":[]}');
    await a.meet();
    await b.meet();
    a.write("UPDATE page SET content = json_set(content, '$.body', 'very low tide') WHERE id = 'p'");
    b.write("UPDATE page SET content = json_set(content, '$.body', 'low tide!', '$.more', 1) WHERE id = 'p'");
    await a.meet();
    await b.meet();
    await a.meet();
    expect(a.rows(ROWS)).toEqual([['p', null, '{"body":"very low tide!","items":[],"more":1}']]);
    expect(b.rows(ROWS)).toEqual(a.rows(ROWS));
  });

  it('keep an edit that was made offline while the document was compacted twice [MR-28]', async () => {
    const [a, b] = [device(1), device(2)];
    const plain = 'low tide '.repeat(40);
    a.write("INSERT INTO page (id, content) VALUES ('p', ?)", JSON.stringify({ body: plain }));
    for (const one of [a, b]) await one.meet();
    b.write("UPDATE page SET content = json_set(content, '$.body', ?, '$.by', 'ben')", `${plain}at noon`);
    const ids = new Set<string>();
    for (let n = 0; ids.size < 3; n++) {
      // Inserts characters in many places and deletes them again: Yjs keeps a trace of each in the document.
      const body = n % 2 === 0 ? plain.replaceAll(/./g, (character) => `${character}${n % 7}`) : plain;
      a.write("UPDATE page SET content = json_set(content, '$.body', ?)", body);
      await a.meet();
      ids.add(String(server.file.sql.get('SELECT substr(state, 2, 8) FROM rockpool_document')));
      if (n === 60) throw new Error('not compacted');
    }
    a.write("UPDATE page SET content = json_set(content, '$.body', ?)", plain);
    for (const one of [a, b, b, a]) await one.meet();
    const expected = [['p', null, JSON.stringify({ body: `${plain}at noon`, by: 'ben' })]];
    expect([a.rows(ROWS), b.rows(ROWS), stored()]).toEqual(new Array(3).fill(expected));
    expect(b.database.listRejected()).toEqual([]);
    expect(server.file.sql.all('SELECT path FROM rockpool_conflict')).toEqual([]);
  });

  it("keep one writer's text and the other's formats, by SQL and in the Y.Text of an open page [MR-21]", async () => {
    const [a, b] = [device(1), device(2)];
    a.write("INSERT INTO page (id, content) VALUES ('p', ?)", '{"note":[{"insert":"the tide is out"}]}');
    for (const one of [a, b]) await one.meet();
    a.write(
      "UPDATE page SET content = json_set(content, '$.note', json(?)) WHERE id = 'p'",
      '[{"insert":"the "},{"insert":"ti","attributes":{"bold":true}},{"attributes":{"bold":true},"insert":"de"},{"insert":" is out"}]',
    );
    expect(a.rows(ROWS)).toEqual([
      ['p', null, '{"note":[{"insert":"the "},{"attributes":{"bold":true},"insert":"tide"},{"insert":" is out"}]}'],
    ]);
    const pages = new OpenPages();
    const page = await pages.openOn(b, 'p');
    const note = (rootValue(page.doc) as MapNode).get('note') as Text;
    note.insert(5, '(low)');
    note.format(note.length - 3, 3, { italic: true });
    await page.saved();
    for (const one of [a, b, a, b]) await one.meet();
    const expected =
      '{"note":[{"insert":"the "},{"attributes":{"bold":true},"insert":"t(low)ide"},{"insert":" is "},{"attributes":{"italic":true},"insert":"out"}]}';
    expect([a.rows(ROWS), b.rows(ROWS), stored()]).toEqual(new Array(3).fill([['p', null, expected]]));
    pages.notify(b);
    await page.saved();
    expect(note.toDelta()).toEqual((JSON.parse(expected) as { note: unknown }).note);
    page.undoManager.undo();
    await page.saved();
    expect(b.rows(ROWS)).toEqual([
      ['p', null, '{"note":[{"insert":"the "},{"attributes":{"bold":true},"insert":"tide"},{"insert":" is out"}]}'],
    ]);
    await page.close();
  });

  it('contain content only once if two devices created it identically [MR-27]', async () => {
    const [a, b] = [device(1), device(2)];
    for (const one of [a, b])
      one.write("INSERT INTO page (id, content) VALUES ('p', ?)", '{"items":[{"id":"x"}],"body":"start"}');
    a.write("UPDATE page SET content = json_set(content, '$.body', 'start again') WHERE id = 'p'");
    for (const one of [a, b, a]) await one.meet();
    expect(b.rows('SELECT content FROM page')[0]?.[0]).toMatch(/^{"body":"start( again)?","items":\[{"id":"x"}\]}$/);
    expect(a.rows(ROWS)).toEqual(b.rows(ROWS));
  });

  it('repeat edits after a rejection, except edits that would overwrite newer ones: those wait for their author [MR-32]', async () => {
    const [a, b] = [device(1), device(2)];
    a.write(
      "INSERT INTO page (id, title, content) VALUES ('p', 'mine', ?), ('q', 'draft', ?)",
      '{"body":"low tide"}',
      '{"body":"ebb"}',
    );
    for (const one of [a, b]) await one.meet();
    b.writeAll(
      ["INSERT INTO page (id, title) VALUES ('x', 'one')"],
      ["UPDATE page SET title = 'final' WHERE id = 'q'"],
    );
    await b.meet();
    // The first edit is rejected together with the later edits that build on it. The second of the later edits writes a
    // title that another device has changed.
    a.writeAll(
      ["UPDATE page SET title = 'one', content = json_set(content, '$.body', 'high tide') WHERE id = 'p'"],
      ["UPDATE page SET content = json_set(content, '$.n', 1) WHERE id = 'q'"],
    );
    a.write("UPDATE page SET content = json_set(content, '$.body', 'high tide!') WHERE id = 'p'");
    a.write("UPDATE page SET title = 'copy', content = json_set(content, '$.n', 2) WHERE id = 'q'");
    for (const one of [a, a, b]) await one.meet();
    expect(a.rows(ROWS)).toEqual([
      ['p', 'mine', expect.stringContaining('low tide!')],
      ['q', 'final', '{"body":"ebb"}'],
      ['x', 'one', null],
    ]);
    expect(b.rows(ROWS)).toEqual(a.rows(ROWS));
    expect(a.database.rejected.list().map(({ error }) => error.code)).toEqual(['constraint-unique', 'document-gap']);
  });

  it('include a rejected edit that a restored server admits, together with later edits', async () => {
    const [a, b] = [device(1), device(2)];
    a.write("INSERT INTO page (id, content) VALUES ('p', ?), ('q', NULL)", '{"body":"low tide"}');
    for (const one of [a, b]) await one.meet();
    b.write("DELETE FROM page WHERE id = 'q'");
    await b.meet();
    a.request({
      statements: [
        { sql: "UPDATE page SET title = 'one' WHERE id = 'q'", params: [] },
        { sql: "UPDATE page SET content = json_set(content, '$.body', 'high tide') WHERE id = 'p'", params: [] },
      ],
      action: { kind: 'atomic' },
    });
    await a.meet();
    expect(a.rows('SELECT code FROM rockpool_parked')).toEqual([['atomic-conflict']]);
    a.write("UPDATE page SET content = json_set(content, '$.body', 'low tide!') WHERE id = 'p'");
    await a.meet();
    // The backup contains an empty database: the whole log is lost, including the delete that caused the rejection.
    const [identity = null] = server.file.sql.get(`SELECT value FROM rockpool_meta WHERE name = 'identity'`) ?? [];
    await server.close();
    begin();
    server.file.sql.run(`UPDATE rockpool_meta SET value = ? WHERE name = 'identity'`, identity);
    a.server = server;
    for (let round = 0; round < 3; round++) await a.meet();
    expect(a.rows(ROWS)).toEqual([
      ['p', null, '{"body":"high tide!"}'],
      ['q', 'one', null],
    ]);
    expect(stored()).toEqual(a.rows(ROWS));
    expect(a.database.rejected.list()).toEqual([]);
  });

  it('keep their visible content in a copied file, and send every edit under the new site', async () => {
    const [a, b] = [device(1), device(2)];
    a.write("INSERT INTO page (id, content) VALUES ('p', ?), ('q', ?)", '{"body":"low tide"}', '{"body":"ebb"}');
    for (const one of [a, b]) await one.meet();
    b.write("INSERT INTO page (id, title) VALUES ('x', 'one'), ('y', 'two')");
    await b.meet();
    // Both titles are taken, and device a learns of that before it sends anything: both changesets and their document
    // edits are masked.
    a.write("UPDATE page SET title = 'one', content = NULL WHERE id = 'p'");
    a.write("UPDATE page SET title = 'two', content = json_set(content, '$.body', 'high ebb') WHERE id = 'q'");
    await a.meet({ sends: false });
    expect(a.rows(ROWS)).toEqual(b.rows(ROWS));
    a.write("UPDATE page SET content = json_set(content, '$.body', content ->> 'body' || '!') WHERE id IN ('p', 'q')");
    a.sync.becomeNewSite(a.database.outbox.lastAckedSequence() + 1);
    for (const one of [a, b, a, b]) await one.meet();
    expect(a.rows("SELECT content FROM page WHERE id IN ('p', 'q') ORDER BY id")).toEqual([
      ['{"body":"low tide!"}'],
      ['{"body":"ebb!"}'],
    ]);
    expect(b.rows(ROWS)).toEqual(a.rows(ROWS));
    expect(a.rows(ROWS)).toEqual(stored());
    expect(a.database.rejected.list().map(({ error }) => error.code)).toEqual([
      'constraint-unique',
      'constraint-unique',
    ]);
  });

  it('are re-created after a lost log by a device under a new site, even if they were replaced since [MR-48]', async () => {
    const [a, b] = [device(1), device(2)];
    a.write(
      "INSERT INTO page (id, content) VALUES ('p', ?), ('q', ?)",
      '{"body":"low tide","items":[]}',
      '{"body":"ebb"}',
    );
    for (const one of [a, b]) await one.meet();
    server.file.sql.exec(`VACUUM INTO '${nextFile()}'`);
    a.write(
      "UPDATE page SET content = json_set(content, '$.body', 'high tide', '$.items[0]', json_object('id', 'x')) WHERE id = 'p'",
    );
    a.write("UPDATE page SET content = json_set(content, '$.body', 'high ebb') WHERE id = 'q'");
    await a.meet();
    await b.meet();
    b.writeAll(
      ["UPDATE page SET content = NULL WHERE id = 'q'"],
      ["UPDATE page SET content = json_set(content, '$.body', 'high tide!') WHERE id = 'p'"],
    );
    for (const one of [b, a]) await one.meet();
    a.write("UPDATE page SET content = json_set(content, '$.items[1]', json_object('id', 'y')) WHERE id = 'p'");
    await server.close();
    begin();
    a.server = server;
    a.sync.becomeNewSite(2);
    for (let round = 0; round < 3; round++) await a.meet();
    expect(a.rows(ROWS)).toEqual([
      ['p', null, '{"body":"high tide","items":[{"id":"x"},{"id":"y"}]}'],
      ['q', null, '{"body":"high ebb"}'],
    ]);
    expect(stored()).toEqual(a.rows(ROWS));
    expect(a.database.rejected.list()).toEqual([]);
  });

  it('add only the size of a small edit to network traffic and changelog, even in a document of a megabyte', async () => {
    const [a, b] = [device(1), device(2)];
    const items = Array.from({ length: 1_500 }, (_, id) => ({
      id: `item-${id}`,
      note: `a note of some length ${id}`,
      rest: 'x'.repeat(600),
    }));
    const text = JSON.stringify({ body: '', items });
    expect(text.length).toBeGreaterThan(900_000);
    a.write("INSERT INTO page (id, content) VALUES ('p', ?)", text);
    for (const one of [a, b]) await one.meet();
    for (const one of [a, b]) one.sentBytes = one.receivedBytes = 0;
    a.write("UPDATE page SET content = json_set(content, '$.items[700].note', 'another note') WHERE id = 'p'");
    const logged = a.rows(
      'SELECT length(body) + length(before) FROM rockpool_changelog ORDER BY sequence DESC LIMIT 1',
    );
    expect(logged[0]?.[0]).toBeLessThan(1024);
    for (const one of [a, b]) await one.meet();
    expect(a.sentBytes).toBeLessThan(1024);
    expect(a.receivedBytes).toBeLessThan(1024);
    expect(b.receivedBytes).toBeLessThan(1024);
    expect(b.rows(ROWS)).toEqual(a.rows(ROWS));
  });

  it('reject invalid JSON at once', () => {
    const a = device(1);
    const code = (content: string): unknown => {
      try {
        a.write("INSERT INTO page (id, content) VALUES ('p', ?)", content);
        return null;
      } catch (error) {
        return error instanceof RockpoolError ? [error.code, error.fields['problem']] : error;
      }
    };
    expect(code('not json')).toEqual(['document-invalid', 'syntax']);
    expect(code('{"__proto__":1}')).toEqual(['document-invalid', 'key']);
    expect(code('[12345678901234567890]')).toEqual(['document-invalid', 'number']);
    expect(code('{"note":"low tide"}')).toEqual(['document-invalid', 'rich-text']);
    expect(code('{"note":[{"insert":{"image":"tide.png"}}]}')).toEqual(['document-invalid', 'rich-text']);
    expect(a.rows(ROWS)).toEqual([]);
  });
});
