import { RockpoolError, type ChangeGroup, type TableSchema } from '@rockpool/shared';
import type { Connection } from '../sqlite/connection.ts';
import { RowWriter } from './row-writer.ts';

/** The row writers of one delivery, created on first use of each table. */
export class RowWriters {
  private readonly connection: Connection;
  private readonly tablesById: ReadonlyMap<number, TableSchema>;
  private readonly byTable: Map<number, RowWriter> = new Map();

  constructor(connection: Connection, tablesById: ReadonlyMap<number, TableSchema>) {
    this.connection = connection;
    this.tablesById = tablesById;
  }

  of(tableId: number): RowWriter {
    let writer = this.byTable.get(tableId);
    if (writer === undefined) {
      const table = this.tablesById.get(tableId);
      if (table === undefined) throw new RockpoolError('schema-unknown-table', { tableId });
      writer = new RowWriter(this.connection, table);
      this.byTable.set(tableId, writer);
    }
    return writer;
  }

  /**
   * The writer of a group's table. Throws `schema-unknown-column` or `changeset-invalid` if the group does not fit it.
   */
  ofGroup(group: ChangeGroup): RowWriter {
    const writer = this.of(group.tableId);
    for (const columnId of group.columnIds) {
      if (!writer.hasColumn(columnId))
        throw new RockpoolError('schema-unknown-column', { table: writer.table.name, columnId });
    }
    if (group.keys.length !== writer.table.primaryKey.length)
      throw new RockpoolError('changeset-invalid', {
        table: writer.table.name,
        problem: 'a key has the wrong number of parts',
      });
    return writer;
  }

  /** See RowWriter.finish. */
  finish(): void {
    for (const writer of this.byTable.values()) writer.finish();
  }

  release(): void {
    for (const writer of this.byTable.values()) writer.release();
  }
}
