import { RockpoolError } from '../errors/rockpool-error.ts';
import type { PolicyDeclaration } from '../merge/column-policy.ts';
import { POLICY_DECLARATIONS } from '../merge/policies/policies.ts';
import { buildSchema } from './build-schema.ts';
import { columnIdOf, hashWithoutRichTexts, tableIdOf } from './identity.ts';
import { flag, invalid, list, object, oneOf, parse, text, textOrNull, texts } from './read-json.ts';
import type {
  ColumnSchema,
  ColumnType,
  DeleteRule,
  ForeignKeyAction,
  ForeignKeySchema,
  HistoryRule,
  IndexSchema,
  MergeRules,
  Schema,
  SearchIndexSchema,
  TableSchema,
} from './schema.ts';
import { readForeignKeyRules } from './foreign-key-rule.ts';
import { readUniqueRule } from './unique-rule.ts';

/** Version of the schema file, which an app builds and a server reads: JSON that begins with this version. */
export const SCHEMA_FILE_VERSION = 1;

export function encodeSchema(schema: Schema): string {
  return `${JSON.stringify({ rockpoolSchema: SCHEMA_FILE_VERSION, hash: schema.hash, tables: schema.tables }, null, 2)}\n`;
}

/**
 * Reads a schema file, trusting nothing: checks shapes, ids and hash. Throws `schema-invalid`, or `protocol-version`
 * for a file of a later version.
 */
export function decodeSchema(json: string): Schema {
  const file = object(parse(json), 'the file');
  if (typeof file['rockpoolSchema'] !== 'number') invalid('the file is not a Rockpool schema file');
  if (file['rockpoolSchema'] !== SCHEMA_FILE_VERSION) {
    throw new RockpoolError('protocol-version', {
      schemaFileVersion: file['rockpoolSchema'],
      supported: SCHEMA_FILE_VERSION,
    });
  }
  const schema = buildSchema(list(file['tables'], 'tables').map(readTable));
  if (file['hash'] !== schema.hash && file['hash'] !== hashWithoutRichTexts(schema.tables))
    invalid('the hash does not match the tables');
  return schema;
}

function readTable(value: unknown): TableSchema {
  const table = object(value, 'table');
  const name = text(table['name'], 'table name');
  const id = tableIdOf(name);
  if (table['id'] !== id) invalid(`the id of table ${name} does not match its name`);
  return {
    id,
    name,
    columns: list(table['columns'], 'columns').map((column) => readColumnSchema(column, name)),
    primaryKey: texts(table['primaryKey'], 'primaryKey'),
    uniques: list(table['uniques'], 'uniques').map((columns) => texts(columns, 'uniques')),
    foreignKeys: list(table['foreignKeys'], 'foreignKeys').map(readForeignKey),
    checks: list(table['checks'], 'checks').map((value) => {
      const check = object(value, 'check');
      return { name: textOrNull(check['name'], 'check name'), sql: text(check['sql'], 'check') };
    }),
    indexes: list(table['indexes'], 'indexes').map(readIndex),
    ...(table['searchIndexes'] === undefined
      ? {}
      : { searchIndexes: list(table['searchIndexes'], 'searchIndexes').map(readSearchIndex) }),
    merge: readMergeRules(table['merge']),
    ...(table['history'] === undefined ? {} : { history: readHistoryRule(table['history']) }),
    synced: flag(table['synced'], 'synced'),
  };
}

const COLUMN_TYPES: readonly string[] = ['text', 'integer', 'real', 'blob', 'numeric'];
const ACTIONS: readonly string[] = ['no action', 'restrict', 'cascade', 'set null', 'set default'];

function readColumnSchema(value: unknown, tableName: string): ColumnSchema {
  const column = object(value, 'column');
  const name = text(column['name'], 'column name');
  const id = columnIdOf(name);
  if (column['id'] !== id) invalid(`the id of column ${tableName}.${name} does not match its name`);
  const generated = column['generated'] === null ? null : object(column['generated'], 'generated');
  return {
    id,
    name,
    type: oneOf(column['type'], COLUMN_TYPES, 'column type') as ColumnType,
    notNull: flag(column['notNull'], 'notNull'),
    defaultSql: textOrNull(column['defaultSql'], 'defaultSql'),
    generated:
      generated === null
        ? null
        : {
            sql: text(generated['sql'], 'generated'),
            mode: oneOf(generated['mode'], ['stored', 'virtual'], 'generated mode') as 'stored' | 'virtual',
          },
  };
}

function readMergeRules(value: unknown): MergeRules {
  const rules = object(value, 'merge');
  return {
    deleteRule: oneOf(rules['deleteRule'], ['delete-wins', 'update-wins'], 'deleteRule') as DeleteRule,
    ...(rules['uniqueRule'] === undefined ? {} : { uniqueRule: readUniqueRule(rules['uniqueRule']) }),
    ...(rules['foreignKeyRules'] === undefined
      ? {}
      : { foreignKeyRules: readForeignKeyRules(rules['foreignKeyRules']) }),
    ...(Object.fromEntries(
      POLICY_DECLARATIONS.map(({ key, read }) => [key, list(rules[key], key).map((entry) => read(entry))]),
    ) as unknown as Pick<MergeRules, PolicyDeclaration['key']>),
  };
}

function readHistoryRule(value: unknown): HistoryRule {
  const { retainedDays } = object(value, 'history');
  if (retainedDays !== null && typeof retainedDays !== 'number') invalid('retainedDays must be a number or null');
  return { retainedDays };
}

function readForeignKey(value: unknown): ForeignKeySchema {
  const key = object(value, 'foreign key');
  return {
    columns: texts(key['columns'], 'foreign key columns'),
    foreignTable: text(key['foreignTable'], 'foreign table'),
    foreignColumns: texts(key['foreignColumns'], 'foreign columns'),
    onDelete: oneOf(key['onDelete'], ACTIONS, 'onDelete') as ForeignKeyAction,
    onUpdate: oneOf(key['onUpdate'], ACTIONS, 'onUpdate') as ForeignKeyAction,
  };
}

function readIndex(value: unknown): IndexSchema {
  const index = object(value, 'index');
  return {
    name: text(index['name'], 'index name'),
    unique: flag(index['unique'], 'unique'),
    expressions: texts(index['expressions'], 'index expressions'),
    whereSql: textOrNull(index['whereSql'], 'whereSql'),
  };
}

function readSearchIndex(value: unknown): SearchIndexSchema {
  const index = object(value, 'search index');
  return {
    name: text(index['name'], 'search index name'),
    columns: texts(index['columns'], 'search index columns'),
    tokenize: text(index['tokenize'], 'tokenize'),
  };
}
