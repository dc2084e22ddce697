import type { encodeOrigin, ErrorData } from '@rockpool/shared';
import type { Connection } from '../sqlite/connection.ts';
import type { SqlValue } from '../../rpc/sql-value.ts';
import type { RejectedTable } from './rejected-table.ts';
import type { lowestSequence } from './lowest-sequence.ts';

// Loaded when a database is damaged.

/** Code of the worker's main script; see RehearsedCode. */
export interface UnsentCode {
  readonly encodeOrigin: typeof encodeOrigin;
  readonly lowestSequence: typeof lowestSequence;
}

/** The pending and rejected changesets of a database. */
export interface Unsent {
  /** Rows of rockpool_changelog, oldest first. */
  readonly changesets: readonly UnsentRow[];
  /** False if the database could not be read to the end, so that there may be more. */
  readonly isComplete: boolean;
}

type UnsentRow = readonly [
  stampUs: SqlValue,
  base: SqlValue,
  body: SqlValue,
  before: SqlValue,
  shiftUs: SqlValue,
  origin: SqlValue,
];

const COLUMNS = 'stamp_us, base, body, before, shift_us';

/**
 * Reads row by row, so that a damaged page loses only the rows after it. Each changeset gets its origin, if `siteId`,
 * that of the database, could be read.
 */
export function readUnsent(connection: Connection, siteId: Uint8Array | null, code: UnsentCode): Unsent {
  const changesets: UnsentRow[] = [];
  try {
    const lastAckedSequence = (connection.value('SELECT max(up_to) FROM rockpool_decided') ?? 0) as number;
    const next = `SELECT c.sequence, c.hash, ${COLUMNS}, ${originColumn(connection)} FROM rockpool_changelog c LEFT JOIN rockpool_parked p USING (sequence)
      WHERE c.sequence > ? AND ifnull(p.closed, iif(c.sequence > ?, 0, 1)) = 0 ORDER BY c.sequence LIMIT 1`;
    for (let sequence = -Number.MAX_SAFE_INTEGER; ;) {
      const [row] = connection.rows(next, sequence, lastAckedSequence);
      if (row === undefined) return { changesets, isComplete: true };
      const [number, hash, stampUs, base, body, before, shiftUs, origin] = row as [number, Uint8Array, ...UnsentRow];
      const isFirst = origin === null && siteId !== null && number > 0;
      const own = isFirst ? code.encodeOrigin({ siteId, sequence: number, hash }) : origin;
      changesets.push([stampUs, base, body, before, shiftUs, own]);
      sequence = number;
    }
  } catch {
    return { changesets, isComplete: false };
  }
}

/** A file of an older storage format has no origins. */
function originColumn(connection: Connection): string {
  const exists = connection.value("SELECT 1 FROM pragma_table_info('rockpool_changelog') WHERE name = 'origin'");
  return exists === undefined ? 'NULL' : 'origin';
}

/**
 * Imports unsent changesets into the database of a different site as rejected, so that the user decides about each.
 * They are not sent automatically, because the server may have admitted some of them without the outcome arriving.
 * Retrying such a changeset changes nothing on the server: it has the origin of the admitted one.
 */
export function importUnsent(
  connection: Connection,
  rejected: RejectedTable,
  { changesets }: Unsent,
  reason: ErrorData,
  nowMs: number,
  code: UnsentCode,
): void {
  if (changesets.length === 0) return;
  connection.exec('BEGIN IMMEDIATE');
  try {
    const lowest = code.lowestSequence(connection);
    // The oldest gets the lowest sequence, which keeps the list in order.
    for (const [index, row] of changesets.entries()) {
      const sequence = lowest - changesets.length + index;
      connection.run(
        `INSERT INTO rockpool_changelog (sequence, hash, ${COLUMNS}, origin) VALUES (?, x'', ?, ?, ?, ?, ?, ?)`,
        sequence,
        ...row,
      );
      rejected.add(sequence, reason, nowMs);
    }
    connection.exec('COMMIT');
  } catch (thrown) {
    if (connection.inTransaction) connection.exec('ROLLBACK');
    throw thrown;
  }
}
