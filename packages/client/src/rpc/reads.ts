import type { EncodedRows } from './rows-transfer.ts';
import type { ParkedChangeset } from './parked-changeset.ts';
import type { QueryDependencies } from './query-dependencies.ts';
import type { SqlStatement } from './sql-statement.ts';

/** What can be read, wherever the database is: in this worker, or in that of the leading tab. Every failure is a RockpoolError. */
export interface Reads {
  /** Rows of one statement that reads: what had been committed when it was asked, at least. */
  query(statement: SqlStatement): Promise<EncodedRows>;
  /** What a query reads: tables, views and virtual tables. */
  dependencies(statement: SqlStatement): Promise<QueryDependencies>;
  /** What was refused and waits for a decision, oldest first. */
  listParked(): Promise<readonly ParkedChangeset[]>;
}
