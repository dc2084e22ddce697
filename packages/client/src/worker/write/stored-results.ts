import { bytesToHex, hexToBytes } from '@rockpool/shared';
import { decodeColumn, type EncodedRows } from '../../rpc/rows-transfer.ts';
import type { StatementOutcome } from '../../rpc/sql-statement.ts';
import type { SqlValue } from '../../rpc/sql-value.ts';

// The results of a request as JSON, so that a repeated request returns the same rows. JSON lacks integers beyond 2^53,
// bytes, -0 and infinities, which are stored as objects.
type StoredValue =
  | null
  | number
  | string
  | { readonly integer: string }
  | { readonly bytes: string }
  | { readonly real: string };

interface StoredRows {
  readonly names: readonly string[];
  readonly rowCount: number;
  readonly columns: readonly (readonly StoredValue[])[];
}

export interface StoredResult {
  readonly changes: number;
  readonly rows?: StoredRows;
}

export function storeResult({ changes, rows }: StatementOutcome): StoredResult {
  if (rows === undefined) return { changes };
  const { names, rowCount } = rows;
  return {
    changes,
    rows: { names, rowCount, columns: rows.columns.map((column) => decodeColumn(column, rowCount).map(storeValue)) },
  };
}

export function restoreResult({ changes, rows }: StoredResult): StatementOutcome {
  return rows === undefined ? { changes } : { changes, rows: restoreRows(rows) };
}

function restoreRows({ names, rowCount, columns }: StoredRows): EncodedRows {
  return { names, rowCount, columns: columns.map((values) => ({ kind: 'mixed', values: values.map(restoreValue) })) };
}

function storeValue(value: SqlValue): StoredValue {
  if (typeof value === 'bigint') return { integer: String(value) };
  if (value instanceof Uint8Array) return { bytes: bytesToHex(value) };
  if (typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0)))
    return { real: Object.is(value, -0) ? '-0' : String(value) };
  return value;
}

function restoreValue(value: StoredValue): SqlValue {
  if (value === null || typeof value !== 'object') return value;
  if ('integer' in value) return BigInt(value.integer);
  if ('real' in value) return Number(value.real);
  return hexToBytes(value.bytes);
}
