import { describe, expect, it } from 'vitest';
import { sampleColumn, sampleTable } from '../../testing/sample-schema.ts';
import { buildSchema } from './build-schema.ts';
import { foreignKeyRule } from './foreign-key-rule.ts';
import { decodeSchema, encodeSchema } from './schema-codec.ts';
import {
  DEFAULT_MERGE_RULES,
  type ColumnSchema,
  type DeleteRule,
  type ForeignKeyAction,
  type ForeignKeyRule,
  type ForeignKeySchema,
  type Schema,
  type TableSchema,
} from './schema.ts';

const id = sampleColumn('id', 'text', { notNull: true });

function reference(columns: readonly string[], onDelete: ForeignKeyAction): ForeignKeySchema {
  return { columns, foreignTable: 'parent', foreignColumns: ['id'], onDelete, onUpdate: 'no action' };
}

interface Declared {
  readonly onDelete?: ForeignKeyAction;
  readonly rule?: ForeignKeyRule;
  readonly column?: Partial<ColumnSchema>;
  readonly deleteRule?: DeleteRule;
  readonly of?: string;
  readonly to?: string;
}

function schemaOf({
  onDelete = 'no action',
  rule,
  column,
  deleteRule = 'delete-wins',
  of = 'parent_id',
  to = 'id',
}: Declared): Schema {
  return buildSchema([
    sampleTable('parent', [id, sampleColumn('code', 'text')], {
      uniques: [['code']],
      merge: { ...DEFAULT_MERGE_RULES, deleteRule },
    }),
    sampleTable('child', [id, sampleColumn('parent_id', 'text', column)], {
      foreignKeys: [{ ...reference(['parent_id'], onDelete), foreignColumns: [to] }],
      merge: { ...DEFAULT_MERGE_RULES, ...(rule === undefined ? {} : { foreignKeyRules: [{ columns: [of], rule }] }) },
    }),
  ]);
}

function ruleOf(schema: Schema): ForeignKeyRule {
  const child = schema.tables.find(({ name }) => name === 'child') as TableSchema;
  return foreignKeyRule(child, child.foreignKeys[0] as ForeignKeySchema);
}

describe('the rule of a foreign key', () => {
  it.each([
    ['cascade', 'cascade'],
    ['set null', 'set-null'],
    ['set default', 'reject'],
    ['restrict', 'reject'],
    ['no action', 'reject'],
  ] as const)('for ON DELETE %s is %s by default', (onDelete, rule) => {
    expect(ruleOf(schemaOf({ onDelete }))).toBe(rule);
  });

  it('for ON DELETE SET NULL is reject by default if the reference cannot be NULL on its own', () => {
    expect(ruleOf(schemaOf({ onDelete: 'set null', column: { notNull: true } }))).toBe('reject');
    const columns = [id, sampleColumn('a', 'text'), sampleColumn('b', 'text')];
    const foreignKeys = [['a', 'b'], ['b']].map((names) => reference(names, 'set null'));
    const shared = sampleTable('shared', columns, { foreignKeys });
    expect(foreignKeys.map((key) => foreignKeyRule(shared, key))).toEqual(['reject', 'reject']);
    const inKey = sampleTable('in_key', columns, { primaryKey: ['a'], foreignKeys: [reference(['a'], 'set null')] });
    expect(foreignKeyRule(inKey, reference(['a'], 'set null'))).toBe('reject');
  });

  it('can be declared, and is a part of the schema file and of the hash', () => {
    const declared = schemaOf({ onDelete: 'cascade', rule: 'restore-parent', deleteRule: 'update-wins' });
    expect(ruleOf(declared)).toBe('restore-parent');
    expect(ruleOf(schemaOf({ onDelete: 'cascade', rule: 'reject' }))).toBe('reject');
    const read = decodeSchema(encodeSchema(declared));
    expect([ruleOf(read), read.hash]).toEqual(['restore-parent', declared.hash]);
    expect(declared.hash).not.toBe(schemaOf({ onDelete: 'cascade', deleteRule: 'update-wins' }).hash);
    expect(() => decodeSchema(encodeSchema(declared).replace('"restore-parent"', '"restore"'))).toThrow(
      expect.objectContaining({ code: 'schema-invalid' }),
    );
  });

  it('does not change the hash of a schema that declares none', () => {
    expect(schemaOf({}).hash).toBe('3817af073e43a6210569023e4a544bc6');
  });

  it.each<[string, Declared]>([
    ['set-null needs', { rule: 'set-null', onDelete: 'set null', column: { notNull: true } }],
    ['set-null needs', { rule: 'set-null', onDelete: 'cascade' }],
    ['cascade needs', { rule: 'cascade', onDelete: 'restrict' }],
    [
      'restore-parent needs ON DELETE CASCADE, RESTRICT or NO ACTION',
      { rule: 'restore-parent', onDelete: 'set null', deleteRule: 'update-wins' },
    ],
    ['table with the deleteRule update-wins', { rule: 'restore-parent' }],
    ['to the primary key', { rule: 'restore-parent', deleteRule: 'update-wins', to: 'code' }],
    ['column of one foreign key once', { rule: 'reject', of: 'id' }],
  ])('is reported as a problem if it is not applicable: %s', (problem, declared) => {
    expect(() => schemaOf(declared)).toThrow(
      expect.objectContaining({
        code: 'schema-invalid',
        fields: expect.objectContaining({ problems: expect.stringContaining(problem) as string }) as unknown,
      }),
    );
  });
});
