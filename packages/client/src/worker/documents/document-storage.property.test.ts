import {
  buildSchema,
  DEFAULT_DOCUMENT_RULE,
  DEFAULT_MERGE_RULES,
  DEFAULT_TOKENIZE,
  RockpoolError,
  type DocumentStorage,
  type Schema,
} from '@rockpool/shared';
import { canonicalJson } from '@rockpool/shared/document';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { atLevel } from '../../../../../tests/kit/level.ts';
import { json } from '../../../../shared/testing/json-arbitraries.ts';
import { testTable } from '../../../testing/worker/table-schema.ts';
import { openInMemory } from '../../../testing/worker/test-database.ts';
import type { SqlParam } from '../../rpc/sql-value.ts';
import { decodeRows } from '../../rpc/rows-transfer.ts';
import type { OpenDatabase } from '../database/open-database.ts';
import { storedTypes } from '../../../testing/worker/stored-types.ts';

function schemaOf(storage: DocumentStorage): Schema {
  return buildSchema([
    testTable(
      'page',
      { id: 'text not null', title: 'text', content: 'text', n: "integer as content ->> '$.a' virtual" },
      {
        indexes: [
          { name: 'page_a', unique: false, expressions: [`content ->> '$.a'`], whereSql: null },
          { name: 'page_content', unique: false, expressions: ['content', 'id'], whereSql: 'content IS NOT NULL' },
        ],
        searchIndexes: [{ name: 'page_search', columns: ['content'], tokenize: DEFAULT_TOKENIZE }],
        merge: {
          ...DEFAULT_MERGE_RULES,
          documents: [{ ...DEFAULT_DOCUMENT_RULE, column: 'content', text: ['body'], storage }],
        },
      },
    ),
    testTable('log', { n: 'integer', was: 'text', now: 'text', kind: 'text' }, { primaryKey: ['n'], synced: false }),
  ]);
}

const TRIGGERS = [
  'AFTER INSERT ON page BEGIN INSERT INTO log (was, now, kind) VALUES (NULL, new.content, typeof(new.content)); END',
  `BEFORE UPDATE ON page BEGIN INSERT INTO log (was, now, kind) VALUES (old.content, new.content || '!', new.content ->> '$.a'); END`,
  `AFTER UPDATE OF title ON page WHEN json_valid(new.content) AND new.title = 'touch' BEGIN UPDATE page SET content = json_insert(content, '$.touched', old.content ->> '$.a') WHERE id = new.id; END`,
  'BEFORE DELETE ON page BEGIN INSERT INTO log (was, now, kind) VALUES (old.content, NULL, length(old.content)); END',
];

interface Statement {
  readonly sql: string;
  readonly params: readonly SqlParam[];
}

const id = fc.constantFrom('p', 'q', 'r');
const title = fc.constantFrom('one', 'two', 'touch', null);
const value = fc.oneof(
  { arbitrary: json.map((content) => canonicalJson(content)), weight: 12 },
  { arbitrary: json.map((content) => JSON.stringify({ z: content, a: content, body: 'low\ntide "x" \\' })), weight: 6 },
  { arbitrary: json.map((content) => JSON.stringify(content, null, 1)), weight: 3 },
  // Numbers and escapes in forms that no writer of JSON would choose.
  {
    arbitrary: fc.constantFrom('{"a":1.50}', '{"a":-0}', '{"a":1E+2,"b":"\\u0041\\/"}', '{"a":"\\ud83d\\udc4d"}'),
    weight: 2,
  },
  { arbitrary: fc.constantFrom('', '{', `{a:1}`, '[1,]', `'x'`, '{"a":0x1F}', ' 1', '{"a":1}x', 'NaN'), weight: 1 },
  { arbitrary: fc.constantFrom(null, 1, 2.5, new Uint8Array([0, 255]), new Uint8Array([3, 49])), weight: 1 },
);

const statement: fc.Arbitrary<Statement> = fc.oneof(
  to(`INSERT INTO page (id, title, content) VALUES (?, ?, ?)`, id, title, value),
  to(`INSERT OR REPLACE INTO page (id, title, content) VALUES (?, ?, ?) RETURNING *`, id, title, value),
  to(
    `INSERT INTO page (id, title, content) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET title = length(excluded.content), content = excluded.content WHERE content IS NOT excluded.content`,
    id,
    title,
    value,
  ),
  to(
    `INSERT INTO page (id, content) SELECT id || ?, content FROM page WHERE content LIKE '%a%' AND length(id) < 3 RETURNING id, content, content ->> '$.a', length(content)`,
    id,
  ),
  to(`UPDATE page SET content = ? WHERE id = ? RETURNING content || '.', typeof(content), n`, value, id),
  to(`UPDATE page SET content = json_set(content, '$.a', json(?)) WHERE json_valid(content)`, json.map(canonicalJson)),
  to(`UPDATE page SET content = json_set(content, '$.body', ?) WHERE id = ?`, fc.string({ maxLength: 5 }), id),
  to(`UPDATE page SET content = json_patch(content, ?) WHERE id = ?`, fc.constantFrom('{"a":null}', '{"b":[1]}'), id),
  to(`UPDATE page SET content = json_remove(content, '$.a') WHERE id = ?`, id),
  to(`UPDATE page SET content = replace(content, '1', '2'), title = content WHERE id = ?`, id),
  to(`UPDATE page SET content = (SELECT json_group_array(value) FROM json_each(page.content)) WHERE id = ?`, id),
  to(`UPDATE page SET content = other.content FROM page AS other WHERE other.id = ? AND page.id = ?`, id, id),
  to(`UPDATE page SET title = ? WHERE id = ? RETURNING id, content`, title, id),
  to(`UPDATE page SET title = content ->> '$.a' WHERE content = ?`, value),
  to(`UPDATE page SET id = id || 'x' WHERE id = ?`, id),
  to(`DELETE FROM page WHERE id = ? RETURNING content`, id),
);

const READS = [
  'SELECT * FROM page ORDER BY id',
  'SELECT * FROM log ORDER BY n',
  'SELECT id, content FROM page ORDER BY content, id',
  `SELECT typeof(content), length(content), content IS NULL, hex(content), substr(content, 2, 3), content || 'x' FROM page ORDER BY id`,
  `SELECT id FROM page WHERE content ->> '$.a' = 1 ORDER BY id`,
  `SELECT id FROM page INDEXED BY page_content WHERE content >= '[' AND content IS NOT NULL ORDER BY id`,
  `SELECT content ->> '$.a' AS a, count(*), min(content), max(length(content)), content -> '$.a' FROM page WHERE json_valid(content) GROUP BY a ORDER BY a`,
  'SELECT content, count(*), group_concat(id) FROM page GROUP BY content ORDER BY content',
  `SELECT count(content), sum(content ->> '$.a'), max(content), json_group_array(content) FROM page`,
  'SELECT content FROM page UNION SELECT content || 1 FROM page ORDER BY 1',
  'SELECT a.id, b.id FROM page a JOIN page b ON a.content = b.content ORDER BY 1, 2',
  'SELECT id, (SELECT count(*) FROM page AS other WHERE other.content < page.content) FROM page ORDER BY id',
  'SELECT page.id, each.key, each.value, each.type, each.json FROM page LEFT JOIN json_each(page.content) AS each ON true WHERE json_valid(page.content) ORDER BY page.id, each.id',
  'SELECT id, row_number() OVER (ORDER BY content, id), lag(content) OVER (ORDER BY id) FROM page ORDER BY id',
  `SELECT json_type(content), json_array_length(content), json(content), json_quote(content), json_object('c', content), json_extract(content, '$.a', '$.b') FROM page WHERE json_valid(content) ORDER BY id`,
  `SELECT * FROM (SELECT id, content AS c FROM page LIMIT 5) WHERE c IS NOT NULL AND coalesce(c ->> '$.a', c) > 0 ORDER BY id`,
  `SELECT page.id, snippet(page_search, 0, '[', ']', '', 8) FROM page_search JOIN page ON page.rowid = page_search.rowid WHERE page_search MATCH 'tide' ORDER BY page.id`,
  'SELECT sequence, hex(body), before FROM rockpool_changelog ORDER BY sequence',
  'SELECT * FROM rockpool_document ORDER BY 1, 2, 3',
  'PRAGMA integrity_check',
];

it('SQL, changesets and errors are the same for text and for binary storage', () => {
  fc.assert(
    fc.property(fc.array(fc.array(statement, { minLength: 1, maxLength: 3 }), { maxLength: 10 }), (writes) => {
      const both = [open('text'), open('binary')] as const;
      for (const [index, statements] of writes.entries()) {
        const [text, binary] = both.map((database) => write(database, String(index), statements));
        expect(binary).toEqual(text);
      }
      for (const sql of READS) {
        const [text, binary] = both.map((database) => read(database, sql));
        expect(binary, sql).toEqual(text);
      }
      // Transactions leave only canonical documents, all of which are stored as JSONB.
      const [text, binary] = both.map(({ connection }) => storedTypes(connection, 'page', 'content'));
      expect(binary).toEqual(text?.map((type) => (type === 'text' ? 'blob' : type)));
      for (const database of both) database.close();
    }),
    { numRuns: atLevel({ test: 60, verify: 500, deep: 20_000 }) },
  );
});

function open(storage: DocumentStorage): OpenDatabase {
  const database = openInMemory({ schema: schemaOf(storage), randomBytes: (count) => new Uint8Array(count).fill(7) });
  for (const [index, body] of TRIGGERS.entries()) database.connection.exec(`CREATE TRIGGER t${index} ${body}`);
  return database;
}

function write(database: OpenDatabase, requestId: string, statements: readonly Statement[]): unknown {
  try {
    return database.write({ id: requestId, statements });
  } catch (error) {
    return failure(error);
  }
}

function read(database: OpenDatabase, sql: string): unknown {
  try {
    return decodeRows(database.query(sql, []));
  } catch (error) {
    return failure(error);
  }
}

function failure(error: unknown): unknown {
  if (!(error instanceof RockpoolError)) throw error;
  return { code: error.code, fields: error.fields };
}

function to(sql: string, ...params: readonly fc.Arbitrary<SqlParam>[]): fc.Arbitrary<Statement> {
  return fc.tuple(...params).map((given) => ({ sql, params: given }));
}
