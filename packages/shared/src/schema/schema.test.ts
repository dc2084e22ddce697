import { describe, expect, it } from 'vitest';
import { sampleColumn, sampleSchema, sampleTable } from '../../testing/sample-schema.ts';
import { buildSchema } from './build-schema.ts';
import { tableToDdl } from './ddl.ts';
import { columnIdOf, tableIdOf } from './identity.ts';
import { decodeSchema, encodeSchema } from './schema-codec.ts';
import { DEFAULT_MERGE_RULES, type TableSchema } from './schema.ts';

const id = sampleColumn('id', 'text', { notNull: true });

describe('schema identity', () => {
  it('gives a name an id that never changes', () => {
    // Stored changesets refer to tables and columns by these numbers.
    expect([tableIdOf('entry'), columnIdOf('entry'), columnIdOf('id')]).toMatchInlineSnapshot(`
      [
        3941292034,
        2567572089,
        1239532238,
      ]
    `);
  });

  it('does not change with local tables, plain indexes or the order of columns', () => {
    const reordered = buildSchema([
      ...sampleSchema.tables
        .filter(({ synced }) => synced)
        .map((table) => ({ ...table, columns: [...table.columns].reverse(), indexes: [] })),
      sampleTable('other_draft', [id], { synced: false }),
    ]);
    expect(reordered.hash).toBe(sampleSchema.hash);
  });

  it('changes with every declaration that decides which rows are legal', () => {
    const base = sampleTable('t', [id, sampleColumn('a', 'text')]);
    const variants = [
      base,
      { ...base, columns: [id, sampleColumn('a', 'integer')] },
      { ...base, columns: [id, sampleColumn('a', 'text', { notNull: true })] },
      { ...base, columns: [id, sampleColumn('a', 'text', { defaultSql: "'x'" })] },
      { ...base, uniques: [['a']] },
      { ...base, checks: [{ name: null, sql: 'a > 1' }] },
      { ...base, indexes: [{ name: 'u', unique: true, expressions: ['"a"'], whereSql: null }] },
    ].map((table) => buildSchema([table]).hash);
    expect(new Set(variants).size).toBe(variants.length);
  });
});

describe('schema validation', () => {
  it('reports every problem at once, each with table and column', () => {
    const bad = [
      sampleTable('no_key', [sampleColumn('a', 'text')], { primaryKey: [] }),
      sampleTable('null_key', [sampleColumn('id', 'text')]),
      sampleTable('numbered', [sampleColumn('id', 'integer', { notNull: true })]),
      sampleTable('rockpool_mine', [id]),
      sampleTable('child', [id, sampleColumn('p', 'text')], {
        foreignKeys: [
          {
            columns: ['p'],
            foreignTable: 'nowhere',
            foreignColumns: ['id'],
            onDelete: 'no action',
            onUpdate: 'no action',
          },
        ],
      }),
    ];
    let problems = '';
    try {
      buildSchema(bad);
    } catch (error) {
      expect(error).toMatchObject({ code: 'schema-invalid', fields: { count: 5 } });
      problems = String((error as { fields: { problems: string } }).fields.problems);
    }
    expect(problems.split('\n').map((line) => line.split(': ')[0])).toEqual([
      'no_key',
      'null_key.id',
      'numbered.id',
      'rockpool_mine',
      'child.p',
    ]);
  });

  const key = sampleColumn('key', 'text', { notNull: true });
  const total = sampleColumn('total', 'integer', { generated: { sql: '1', mode: 'stored' } });
  const reference = { foreignColumns: ['id'], onDelete: 'no action', onUpdate: 'no action' } as const;

  it.each<[string, readonly TableSchema[], string]>([
    ['two tables with names that differ in case', [sampleTable('A', [id]), sampleTable('a', [id])], 'A: Two tables'],
    ['two columns with names that differ in case', [sampleTable('t', [id, sampleColumn('ID', 'text')])], 't.ID: Two'],
    [
      'a foreign key to a local table',
      [
        sampleTable('child', [id], { foreignKeys: [{ ...reference, columns: ['id'], foreignTable: 'Local' }] }),
        sampleTable('local', [id], { synced: false }),
      ],
      'child.id: A foreign key points to Local, which is not synced',
    ],
    ['a REAL key', [sampleTable('t', [{ ...key, type: 'real' }])], 't.key: A key column must be text'],
    ['a NUMERIC key', [sampleTable('t', [{ ...key, type: 'numeric' }])], 't.key: A key column must be text'],
    ['a generated key', [sampleTable('t', [{ ...key, generated: total.generated }])], 't.key: A key column cannot be'],
    ['a key without a column', [sampleTable('t', [id], { primaryKey: ['key'] })], 't.key: The primary key names'],
    [
      'two merge rules for a column',
      [
        sampleTable('t', [id, key, sampleColumn('n', 'integer', { notNull: true })], {
          merge: { ...DEFAULT_MERGE_RULES, counters: ['n'], groups: [['n', 'key']] },
        }),
      ],
      't.n: Two merge rules name this column.',
    ],
    [
      'a merge rule for a key column',
      [sampleTable('t', [id, key], { merge: { ...DEFAULT_MERGE_RULES, groups: [['id', 'key']] } })],
      't.id: A merge rule may only name stored columns',
    ],
    [
      'a merge rule for a generated column',
      [sampleTable('t', [id, key, total], { merge: { ...DEFAULT_MERGE_RULES, groups: [['key', 'total']] } })],
      't.total: A merge rule may only name stored columns',
    ],
  ])('refuses %s', (_, tables, problem) => {
    expect(() => buildSchema(tables)).toThrow(
      expect.objectContaining({
        code: 'schema-invalid',
        fields: expect.objectContaining({ problems: expect.stringContaining(problem) as unknown }) as unknown,
      }) as Error,
    );
  });

  it('names the table with more columns than SQLite accepts', () => {
    const columns = Array.from({ length: 2_000 }, (_, i) => sampleColumn(`c${i}`, 'text'));
    expect(() => buildSchema([sampleTable('wide', [id, ...columns])])).toThrow(
      expect.objectContaining({
        code: 'schema-invalid',
        fields: expect.objectContaining({
          problems: 'wide: A table may have at most 2000 columns; this one has 2001.',
        }) as unknown,
      }) as Error,
    );
  });

  it('allows in local tables what is forbidden in synced tables only', () => {
    expect(() =>
      buildSchema([sampleTable('numbered', [sampleColumn('id', 'integer', { notNull: true })], { synced: false })]),
    ).not.toThrow();
  });
});

describe('the paths of rich texts', () => {
  const withRule = (rule: object): ReturnType<typeof buildSchema> => {
    const table = sampleTable('pages', [id, sampleColumn('content', 'text')]);
    const document = { column: 'content', text: ['body'], elementKey: 'id', maxLength: 1000, maxDepth: 8, ...rule };
    return buildSchema([{ ...table, merge: { ...table.merge, documents: [document] } }]);
  };
  // The hash as computed before it included these paths.
  const OLD_HASH = '8a295ab76f5fa649447706aa0608ac67';

  it('are part of the hash, in any order', () => {
    const hashes = [{}, { richText: ['note'] }, { richText: ['note', 'title'] }].map((rule) => withRule(rule).hash);
    expect(new Set(hashes).size).toBe(3);
    expect(withRule({ richText: ['title', 'note'] }).hash).toBe(hashes[2]);
  });

  it('do not change the hash of a schema that has none', () => {
    expect(withRule({}).hash).toBe(OLD_HASH);
    expect(withRule({ richText: [] }).hash).toBe(OLD_HASH);
  });

  it('may be missing from the hash of a stored schema; that hash is then replaced by the current one', () => {
    const schema = withRule({ richText: ['note'] });
    const stored = encodeSchema(schema).replace(schema.hash, OLD_HASH);
    expect(decodeSchema(stored)).toStrictEqual(schema);
  });
});

describe('schema file', () => {
  it('survives being written and read', () => {
    expect(decodeSchema(encodeSchema(sampleSchema))).toStrictEqual(sampleSchema);
  });

  it('keeps the unique rule of a table, refuses an unknown rule, and stores none for `reject`', () => {
    const table = sampleTable('t', [id]);
    const plain = buildSchema([table]);
    const said = buildSchema([{ ...table, merge: { ...table.merge, uniqueRule: 'reject' } }]);
    expect(decodeSchema(encodeSchema(said)).tables[0]?.merge.uniqueRule).toBe('reject');
    expect(said.hash).toBe(plain.hash);
    expect(() => decodeSchema(encodeSchema(said).replace('"reject"', '"first-come"'))).toThrow('uniqueRule');
  });

  it('is rejected if it is not a schema file, is damaged, or has a newer format', () => {
    const file = encodeSchema(sampleSchema);
    expect(() => decodeSchema('<html>')).toThrow(expect.objectContaining({ code: 'schema-invalid' }));
    expect(() => decodeSchema('[]')).toThrow(expect.objectContaining({ code: 'schema-invalid' }));
    expect(() => decodeSchema(file.replace('"notNull": true', '"notNull": false'))).toThrow(
      expect.objectContaining({ code: 'schema-invalid' }),
    );
    expect(() => decodeSchema(file.replace(/"hash": "./, '"hash": "z'))).toThrow('hash');
    expect(() => decodeSchema(file.replace('"rockpoolSchema": 1', '"rockpoolSchema": 2'))).toThrow(
      expect.objectContaining({ code: 'protocol-version' }),
    );
  });
});

describe('DDL', () => {
  it('quotes every name and keeps every constraint', () => {
    const table = sampleSchema.tables.find(({ name }) => name === 'entry');
    expect(table && tableToDdl({ ...table, name: 'en"try' }).join(';\n')).toMatchInlineSnapshot(`
      "CREATE TABLE "en""try" (
        "id" TEXT NOT NULL,
        "account_id" TEXT NOT NULL,
        "amount" INTEGER NOT NULL DEFAULT (0),
        "note" TEXT,
        PRIMARY KEY ("id"),
        FOREIGN KEY ("account_id") REFERENCES "account" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION
      );
      CREATE INDEX "entry_by_account" ON "en""try" ("account_id")"
    `);
  });
});
