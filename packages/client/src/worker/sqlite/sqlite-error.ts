import { RockpoolError, type ErrorCode, type ErrorFields } from '@rockpool/shared';
import {
  SQLITE_AUTH,
  SQLITE_BUSY,
  SQLITE_CANTOPEN,
  SQLITE_CONSTRAINT,
  SQLITE_CONSTRAINT_CHECK,
  SQLITE_CONSTRAINT_DATATYPE,
  SQLITE_CONSTRAINT_FOREIGNKEY,
  SQLITE_CONSTRAINT_NOTNULL,
  SQLITE_CONSTRAINT_PRIMARYKEY,
  SQLITE_CONSTRAINT_ROWID,
  SQLITE_CONSTRAINT_TRIGGER,
  SQLITE_CONSTRAINT_UNIQUE,
  SQLITE_CORRUPT,
  SQLITE_CORRUPT_VTAB,
  SQLITE_ERROR,
  SQLITE_FULL,
  SQLITE_IOERR,
  SQLITE_IOERR_CORRUPTFS,
  SQLITE_LOCKED,
  SQLITE_MISMATCH,
  SQLITE_NOTADB,
  SQLITE_PERM,
  SQLITE_RANGE,
  SQLITE_READONLY,
  SQLITE_TOOBIG,
} from './result-codes.ts';

/** A failure as SQLite reports it, before values are removed. */
export interface SqliteFailure {
  /** The extended result code. */
  readonly resultCode: number;
  /** SQLite's own message. It may quote values, so it is never passed on unchanged. */
  readonly message: string;
  /** While preparing, no parameter is bound, so the message can only quote the SQL text. */
  readonly phase: 'prepare' | 'step';
  /** Byte offset of the mistake in the SQL text; -1 if unknown. */
  readonly offset: number;
}

const CONSTRAINT_CODES: ReadonlyMap<number, ErrorCode> = new Map<number, ErrorCode>([
  [SQLITE_CONSTRAINT_CHECK, 'constraint-check'],
  [SQLITE_CONSTRAINT_DATATYPE, 'constraint-data-type'],
  [SQLITE_CONSTRAINT_FOREIGNKEY, 'constraint-foreign-key'],
  [SQLITE_CONSTRAINT_NOTNULL, 'constraint-not-null'],
  [SQLITE_CONSTRAINT_PRIMARYKEY, 'constraint-primary-key'],
  [SQLITE_CONSTRAINT_ROWID, 'constraint-primary-key'],
  [SQLITE_CONSTRAINT_TRIGGER, 'constraint-trigger'],
  [SQLITE_CONSTRAINT_UNIQUE, 'constraint-unique'],
]);

const PRIMARY_CODES: ReadonlyMap<number, ErrorCode> = new Map<number, ErrorCode>([
  [SQLITE_AUTH, 'sql-forbidden'],
  [SQLITE_BUSY, 'storage-busy'],
  [SQLITE_CANTOPEN, 'storage-lost'],
  [SQLITE_CORRUPT, 'storage-corrupt'],
  [SQLITE_ERROR, 'query-invalid'],
  [SQLITE_FULL, 'storage-full'],
  [SQLITE_IOERR, 'storage-lost'],
  [SQLITE_LOCKED, 'storage-busy'],
  [SQLITE_MISMATCH, 'constraint-data-type'],
  [SQLITE_NOTADB, 'storage-corrupt'],
  [SQLITE_PERM, 'storage-lost'],
  [SQLITE_RANGE, 'query-invalid'],
  [SQLITE_READONLY, 'sql-read-only'],
  [SQLITE_TOOBIG, 'value-invalid'],
]);

/**
 * Turns a failure of SQLite into an error with a code. Its fields hold names, numbers and SQLite's fixed phrases, never
 * values.
 */
export function sqliteError(failure: SqliteFailure): RockpoolError {
  const { resultCode } = failure;
  const primaryCode = resultCode & 0xff;
  if (primaryCode === SQLITE_CONSTRAINT) return constraintError(failure);
  const fields: Record<string, string | number> = { sqliteCode: resultCode };
  if (resultCode === SQLITE_CORRUPT_VTAB) return new RockpoolError('search-index-damaged', fields);
  if (resultCode === SQLITE_IOERR_CORRUPTFS) return new RockpoolError('storage-corrupt', fields);
  if (primaryCode === SQLITE_TOOBIG) return new RockpoolError('value-invalid', { problem: 'too-large' });
  const code = PRIMARY_CODES.get(primaryCode) ?? 'internal';
  if (code === 'query-invalid') {
    const detail = failure.phase === 'prepare' ? safeDetail(failure.message) : stepDetail(failure.message);
    if (detail !== null) fields['detail'] = detail;
    if (failure.offset >= 0) fields['offset'] = failure.offset;
  }
  return new RockpoolError(code, fields);
}

/** `UNIQUE constraint failed: entry.account_id, entry.day` and similar messages contain only names of the schema. */
function constraintError(failure: SqliteFailure): RockpoolError {
  const code = CONSTRAINT_CODES.get(failure.resultCode);
  if (code === undefined) return new RockpoolError('constraint-trigger', { sqliteCode: failure.resultCode });
  // The text of RAISE() is the app's and may contain values.
  if (code === 'constraint-trigger') return new RockpoolError(code);
  const named =
    / constraint failed: (.*)$/s.exec(failure.message)?.[1] ?? / column (\S+\.\S+)$/.exec(failure.message)?.[1];
  if (named === undefined) return new RockpoolError(code);
  if (code === 'constraint-check' || named.startsWith("index '"))
    return new RockpoolError(code, { constraint: named.slice(0, 200) });
  return new RockpoolError(code, tableAndColumns(named));
}

function tableAndColumns(named: string): ErrorFields {
  const columns: string[] = [];
  let table = '';
  for (const part of named.split(', ')) {
    const dot = part.indexOf('.');
    table = part.slice(0, dot);
    columns.push(part.slice(dot + 1));
  }
  return { table, columns: columns.join(', ') };
}

const NAME = String.raw`[\p{L}_][\p{L}\p{N}_$.]*`;
// Parser messages that name something and are safe to pass on. Any other message could quote a literal of the SQL text.
const SAFE_MESSAGES: readonly RegExp[] = [
  /^near "([^\p{L}\p{N}'"]{1,3}|[\p{L}_][\p{L}\p{N}_$]*)": syntax error$/u,
  /^incomplete input$/,
  new RegExp(
    `^(no such|ambiguous) (table|column|column name|index|view|function|savepoint|collation sequence|module)?:? ?${NAME}$`,
    'u',
  ),
  new RegExp(
    `^table ${NAME} (has no column named ${NAME}|has \\d+ columns but \\d+ values were supplied|may not be (modified|dropped|altered)|already exists)$`,
    'u',
  ),
  new RegExp(
    `^(there is already (a table|an index|another table or index) (with this name: |named )?${NAME}|index ${NAME} already exists)$`,
    'u',
  ),
  new RegExp(
    `^(wrong number of arguments to function|misuse of aggregate:?|cannot modify|unknown function:) ${NAME}(\\(\\))?( because it is a view)?$`,
    'u',
  ),
  /^\d+ values for \d+ columns$/,
  /^ON CONFLICT clause does not match any PRIMARY KEY or UNIQUE constraint$/,
  /^row value misused$/,
  /^sub-select returns \d+ columns - expected \d+$/,
];

function safeDetail(message: string): string | null {
  return SAFE_MESSAGES.some((pattern) => pattern.test(message)) ? message.slice(0, 200) : null;
}

const STEP_DETAILS: readonly string[] = [
  'integer overflow',
  'malformed JSON',
  'string or blob too big',
  'too many levels of trigger recursion',
];

function stepDetail(message: string): string | null {
  return STEP_DETAILS.includes(message) ? message : null;
}
