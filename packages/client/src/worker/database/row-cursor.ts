import { RockpoolError } from '@rockpool/shared';
import type { EncodedRows } from '../../rpc/rows-transfer.ts';
import type { SqlStatement } from '../../rpc/sql-statement.ts';
import type { Connection } from '../sqlite/connection.ts';
import { encodeSomeRows } from '../sqlite/encode-rows.ts';
import { READ_POLICY } from '../sqlite/sql-policy.ts';

/** A running query. */
export interface RowCursor {
  /**
   * Returns rows until `isEnough`, which is not called after every row, returns true. Returns null after the last row.
   */
  next(isEnough: (rowCount: number) => boolean): EncodedRows | null;
  /** Releases its snapshot. */
  close(): void;
}

export function openCursor(connection: Connection, { sql, params }: SqlStatement): RowCursor {
  const statement = connection.prepare(sql, READ_POLICY);
  let isOpen = true;
  const close = (): void => {
    if (!isOpen) return;
    isOpen = false;
    statement.release();
  };
  try {
    if (!statement.readOnly) throw new RockpoolError('sql-read-only');
    statement.bindParams(params);
  } catch (error) {
    close();
    throw error;
  }
  return {
    next(isEnough) {
      if (!isOpen) return null;
      try {
        const { rows, isEnd } = connection.underPolicy(READ_POLICY, () => encodeSomeRows(statement, isEnough));
        if (isEnd) close();
        return isEnd && rows.rowCount === 0 ? null : rows;
      } catch (error) {
        close();
        throw error;
      }
    },
    close,
  };
}
