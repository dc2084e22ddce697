import { bytesToHex } from '../bytes/bytes-to-hex.ts';
import { sha256 } from '../bytes/sha256.ts';
import { POLICY_DECLARATIONS } from '../merge/policies/policies.ts';
import { identityOf } from './identity.ts';
import { syncedTables, type ColumnSchema, type Schema, type TableSchema } from './schema.ts';

/*
 * Sent to a client with an unsupported schema, so that the client can name the differences: the names of the synced
 * tables and columns, and their declarations. The app's SQL (defaults, checks) is included as a digest, which is
 * sufficient to see that it differs.
 */

/** The declarations by name. */
export type Declarations = Readonly<Record<string, string | boolean>>;

export interface SchemaOutline {
  readonly [table: string]: {
    readonly declared: Declarations;
    readonly columns: { readonly [column: string]: Declarations };
  };
}

/** Room for some 1,000 columns. The outline of a larger schema is not sent. */
const MAX_OUTLINE_CHARACTERS = 128 * 1024;

/** The parts that identityOf returns after name and columns. */
const PARTS = [
  'primary key',
  'UNIQUE constraints',
  'foreign keys',
  'CHECK constraints',
  'merge rules',
  'unique indexes',
] as const;

export function outlineOf(schema: Schema): SchemaOutline {
  return Object.fromEntries(
    syncedTables(schema).map((table) => [
      table.name,
      {
        declared: Object.fromEntries(
          identityOf(table)
            .slice(2)
            .map((part, at) => [PARTS[at] ?? 'declaration', digestOf(part)]),
        ),
        columns: Object.fromEntries(table.columns.map((column) => [column.name, columnOutline(table, column)])),
      },
    ]),
  );
}

function columnOutline(
  { merge }: TableSchema,
  { name, type, notNull, defaultSql, generated }: ColumnSchema,
): Declarations {
  const rule = POLICY_DECLARATIONS.map((declaration) => declaration.ruleOf(merge, name));
  return {
    type,
    'NOT NULL': notNull,
    default: digestOf(defaultSql),
    'generated expression': digestOf(generated?.sql ?? null),
    'merge rule': digestOf(rule),
  };
}

/** Returns an empty text for a schema whose outline would be too large. */
export function encodeOutline(schema: Schema): string {
  const text = JSON.stringify(outlineOf(schema));
  return text.length > MAX_OUTLINE_CHARACTERS ? '' : text;
}

function digestOf(value: unknown): string {
  if (value === null) return '';
  return bytesToHex(sha256(new TextEncoder().encode(JSON.stringify(value))).subarray(0, 4));
}
