import { describe, expect, it } from 'vitest';
import { sampleColumn, sampleTable } from '../../testing/sample-schema.ts';
import { buildSchema } from './build-schema.ts';
import { decodeSchema, encodeSchema } from './schema-codec.ts';
import { DEFAULT_MERGE_RULES, type TableSchema, type UniqueRule } from './schema.ts';

const id = sampleColumn('id', 'text', { notNull: true });
const name = sampleColumn('name', 'text');

function account(uniqueRule: UniqueRule, parts: Partial<TableSchema> = {}): TableSchema {
  const table = sampleTable('account', [id, name, sampleColumn('rank', 'integer')], { uniques: [['name']], ...parts });
  return { ...table, merge: { ...table.merge, uniqueRule } };
}

const RENAME = { rename: 'name', suffix: ' ({n})' };

describe('a unique rule that renames', () => {
  it('survives a round trip through the schema file, and its suffix is part of the hash', () => {
    const schema = buildSchema([account(RENAME)]);
    expect(decodeSchema(encodeSchema(schema)).tables[0]?.merge.uniqueRule).toEqual(RENAME);
    const others = [buildSchema([account('reject')]), buildSchema([account({ ...RENAME, suffix: ' {n}' })])];
    for (const other of others) expect(other.hash).not.toBe(schema.hash);
  });

  it.each<[string, TableSchema, string]>([
    ['that does not exist', account({ ...RENAME, rename: 'title' }), 'does not have'],
    [
      'that is not TEXT',
      account({ ...RENAME, rename: 'rank' }, { uniques: [['rank']] }),
      'must be stored, TEXT, UNIQUE',
    ],
    ['of the key', account({ ...RENAME, rename: 'id' }), 'must be stored, TEXT, UNIQUE'],
    ['that is not UNIQUE', account(RENAME, { uniques: [] }), 'must be stored, TEXT, UNIQUE'],
    [
      'with a merge rule of its own',
      account(RENAME, { merge: { ...DEFAULT_MERGE_RULES, groups: [['name', 'rank']] } }),
      'must be stored, TEXT, UNIQUE',
    ],
    ['with a suffix that does not count', account({ ...RENAME, suffix: ' (again)' }), '{n} once'],
    ['with a suffix that counts twice', account({ ...RENAME, suffix: ' ({n}) {n}' }), '{n} once'],
  ])('cannot name a column %s', (_, table, problem) => {
    expect(() => buildSchema([table])).toThrow(
      expect.objectContaining({
        code: 'schema-invalid',
        fields: expect.objectContaining({ problems: expect.stringContaining(problem) as unknown }) as unknown,
      }) as Error,
    );
  });

  it('cannot name a column that a foreign key refers to', () => {
    const card = sampleTable('card', [id, sampleColumn('account', 'text')], {
      foreignKeys: [
        {
          columns: ['account'],
          foreignTable: 'account',
          foreignColumns: ['name'],
          onDelete: 'no action',
          onUpdate: 'no action',
        },
      ],
    });
    expect(() => buildSchema([account(RENAME), card])).toThrow(
      expect.objectContaining({
        fields: expect.objectContaining({
          problems: expect.stringContaining('foreign key refers') as unknown,
        }) as unknown,
      }) as Error,
    );
  });
});
