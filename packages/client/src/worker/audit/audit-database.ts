import { RockpoolError, syncedTables, type AuditAnswer, type TableSchema } from '@rockpool/shared';
import type { SyncProgress } from '../apply/apply-delivery.ts';
import type { PendingIndex } from '../apply/pending-index.ts';
import type { OpenDatabase } from '../database/open-database.ts';
import { serverRowSlices, type ServerRow } from './server-rows.ts';
import { repairRows } from './repair-rows.ts';

/** The number of rows repaired in one table. */
export interface Repair {
  readonly table: string;
  readonly rowCount: number;
}

/** The local database as an audit uses it. */
export interface AuditDatabase {
  readonly tables: readonly TableSchema[];
  readonly cursor: number;
  /** All rows of a table as the server has them, in slices (serverRowSlices). */
  serverRows(table: TableSchema): Generator<readonly ServerRow[]>;
  /**
   * Replaces local rows with those of the server's response. `rangeCounts` has the number of ranges in which each table
   * was requested, by table id.
   */
  repair(answer: AuditAnswer, rangeCounts: ReadonlyMap<number, number>): Repair[];
}

export interface AuditDatabaseOptions {
  readonly database: OpenDatabase;
  readonly pending: PendingIndex;
  readonly progress: SyncProgress;
  readonly onApplied: (touched: ReadonlySet<string>) => void;
}

export function toAuditDatabase({ database, pending, progress, onApplied }: AuditDatabaseOptions): AuditDatabase {
  const { connection, searchIndexes, tablesById, meta, schema } = database;
  const readPending = (): void => {
    for (const changeset of progress.pendingAfter(pending.newestSequence)) pending.add(changeset);
  };
  return {
    tables: syncedTables(schema),
    get cursor() {
      return meta.cursor;
    },
    serverRows(table) {
      readPending();
      return serverRowSlices(connection, table, pending);
    },
    repair(answer, rangeCounts) {
      readPending();
      return answer.differing.map((differing) => {
        const table = tablesById.get(differing.tableId);
        const rangeCount = rangeCounts.get(differing.tableId);
        if (table === undefined || rangeCount === undefined)
          throw new RockpoolError('frame-unexpected', {
            problem: 'the audit of this table was not requested',
          });
        const theirs = answer.groups.find(({ tableId }) => tableId === table.id);
        const { rowCount, touched } = repairRows(
          { connection, searchIndexes, tablesById, pending, progress },
          table,
          rangeCount,
          differing,
          theirs,
        );
        onApplied(touched);
        return { table: table.name, rowCount };
      });
    },
  };
}
