import type { EncodedRows } from './rows-transfer.ts';
import type { ParkedChangeset } from './parked-changeset.ts';
import type { SqlStatement } from './sql-statement.ts';

/** What can be read, wherever the database is: in this worker, or in that of the leading tab. Every failure is a RockpoolError. */
export interface Reads {
  /** Rows of one statement that reads: what had been committed when it was asked, at least. */
  query(statement: SqlStatement): Promise<EncodedRows>;
  /** The tables, views and virtual tables that a query reads. */
  tablesRead(sql: string): Promise<readonly string[]>;
  /** What was refused and waits for a decision, oldest first. */
  listParked(): Promise<readonly ParkedChangeset[]>;
}
