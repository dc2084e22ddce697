import { describe, expect, it } from 'vitest';
import { sampleColumn, sampleSchema, sampleTable } from '../../testing/sample-schema.ts';
import { buildSchema } from './build-schema.ts';
import type { Schema, TableSchema } from './schema.ts';
import { decodeOutline, outlineDifferences } from './schema-difference.ts';
import { encodeOutline, outlineOf, type SchemaOutline } from './schema-outline.ts';

const id = sampleColumn('id', 'text', { notNull: true });
const todo = sampleTable('todo', [
  id,
  sampleColumn('title', 'text'),
  sampleColumn('rank', 'integer', { notNull: true, defaultSql: '0' }),
]);

/** Finds the differences like a client, which has only the text of the server's outline. */
function differences(client: Schema, server: Schema): string[] {
  const told = decodeOutline(encodeOutline(server)) as SchemaOutline;
  return outlineDifferences(outlineOf(client), told).map(
    ({ table, column, side, problem }) => `${side}: ${table}${column === null ? '' : `.${column}`}: ${problem}`,
  );
}

describe('the differences between two schemas', () => {
  it('are empty when the hashes are equal', () => {
    const local = sampleTable('draft', [id], { synced: false });
    expect(differences(sampleSchema, sampleSchema)).toEqual([]);
    expect(
      differences(buildSchema([todo, local]), buildSchema([{ ...todo, columns: [...todo.columns].reverse() }])),
    ).toEqual([]);
  });

  it('are named by table, column and side, starting with what the server lacks', () => {
    const more = { ...todo, columns: [...todo.columns, sampleColumn('due', 'text')] };
    const tag = sampleTable('tag', [id]);
    expect(differences(buildSchema([more]), buildSchema([todo]))).toEqual(['server: todo.due: the column is missing']);
    expect(differences(buildSchema([todo, tag]), buildSchema([more]))).toEqual([
      'server: tag: the table is missing',
      'client: todo.due: the column is missing',
    ]);
  });

  it.each<[string, Partial<TableSchema>]>([
    [
      'todo.title: type: declared differently',
      { columns: [id, sampleColumn('title', 'integer'), ...todo.columns.slice(2)] },
    ],
    [
      'todo.title: NOT NULL: declared differently',
      { columns: [id, sampleColumn('title', 'text', { notNull: true }), ...todo.columns.slice(2)] },
    ],
    [
      'todo.title: default: declared differently',
      { columns: [id, sampleColumn('title', 'text', { defaultSql: "'secret'" }), ...todo.columns.slice(2)] },
    ],
    ['todo.rank: merge rule: declared differently', { merge: { ...todo.merge, counters: ['rank'] } }],
    ['todo: merge rules: declared differently', { merge: { ...todo.merge, deleteRule: 'update-wins' } }],
    ['todo: UNIQUE constraints: declared differently', { uniques: [['title']] }],
    ['todo: CHECK constraints: declared differently', { checks: [{ name: null, sql: "title <> 'secret'" }] }],
    [
      'todo: unique indexes: declared differently',
      { indexes: [{ name: 'u', unique: true, expressions: ['"title"'], whereSql: null }] },
    ],
    [
      'todo: foreign keys: declared differently',
      {
        foreignKeys: [
          {
            columns: ['title'],
            foreignTable: 'todo',
            foreignColumns: ['id'],
            onDelete: 'cascade',
            onUpdate: 'no action',
          },
        ],
      },
    ],
  ])('are %s, wherever the hash differs', (expected, change) => {
    const [mine, theirs] = [buildSchema([todo]), buildSchema([{ ...todo, ...change }])];
    expect(mine.hash).not.toBe(theirs.hash);
    expect(differences(mine, theirs)).toEqual([`both: ${expected}`]);
    // The app's SQL is not sent.
    expect(encodeOutline(theirs)).not.toContain('secret');
  });

  it('are not sent if the schema is too large, and noise is not decoded as an outline', () => {
    const columns = Array.from({ length: 1_500 }, (_, i) => sampleColumn(`column_${i}`, 'text'));
    expect(encodeOutline(buildSchema(['wide', 'wider'].map((name) => sampleTable(name, [id, ...columns]))))).toBe('');
    for (const noise of [
      '',
      '{',
      '[]',
      'null',
      '7',
      '{"a":1}',
      '{"a":{"declared":{},"columns":[]}}',
      '{"a":{"declared":{},"columns":{"b":1}}}',
      7,
      undefined,
    ])
      expect(decodeOutline(noise)).toBeNull();
    expect(
      outlineDifferences(
        outlineOf(buildSchema([todo])),
        decodeOutline('{"constructor":{"declared":{},"columns":{}}}') as SchemaOutline,
      ),
    ).toHaveLength(2);
  });
});
