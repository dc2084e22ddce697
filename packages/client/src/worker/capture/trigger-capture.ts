import { cellValuesEqual, keyToString, quoteName, RockpoolError, type CellValue } from '@rockpool/shared';
import type { Connection } from '../sqlite/connection.ts';
import type { Statement } from '../sqlite/statement.ts';
import { quotedColumns, type CaptureTable } from './capture-table.ts';
import { ChangeCollector, type Capture, type CapturedChanges } from './captured-changes.ts';
import { evictionConditions } from './evicted-rows.ts';
import { requireSendable } from './sendable-value.ts';

/** Temporary tables and triggers of capture have this prefix; policies allow only these triggers to write these tables. */
export const CAPTURE_PREFIX = 'rockpool_capture_';

const SWITCH = `${CAPTURE_PREFIX}switch`;

/**
 * Captures with temporary triggers, for tables with generated columns.
 *
 * 1. A row is logged with its old values before anything can happen to it, or as "was not there" when it is inserted.
 *    Only the first entry of a key counts. What the row is now is read from the table at the end, as sessions do: the net effect needs no
 *    bookkeeping of what came in between.
 * 2. Logging a row that does not change in the end is harmless. So the rows that an INSERT or UPDATE would evict with OR REPLACE are logged
 *    beforehand, whether or not it does: SQLite fires no delete triggers for evicted rows unless `recursive_triggers` is on, and
 *    that would let an app's "set updated_at after update" trigger call itself.
 * 3. The log is a temporary table, so that a rolled back savepoint or statement takes its entries back.
 * 4. The triggers stay for the life of the connection, as creating one makes SQLite compile every statement anew; a switch turns them off.
 */
export class TriggerCapture implements Capture {
  private readonly connection: Connection;
  private readonly tables: readonly CaptureTable[];

  constructor(connection: Connection, tables: readonly CaptureTable[]) {
    this.connection = connection;
    this.tables = tables;
    if (tables.length === 0) return;
    connection.exec(`CREATE TEMP TABLE ${SWITCH} (capturing INTEGER)`);
    for (const table of tables) connection.exec(captureDdl(table));
  }

  begin(): void {
    if (this.tables.length === 0) return;
    this.connection.run(`INSERT INTO temp.${SWITCH} VALUES (1)`);
  }

  take(): CapturedChanges {
    const collector = new ChangeCollector();
    for (const table of this.tables) this.takeTable(table, collector);
    return collector.finish();
  }

  private takeTable(table: CaptureTable, collector: ChangeCollector): void {
    const firstByKey = this.firstEntries(table);
    if (firstByKey.size === 0) return;
    const columns = quotedColumns(table);
    const keyCondition = table.keyPositions.map((position) => `${columns[position] as string} = ?`).join(' AND ');
    const current = this.connection.prepare(`SELECT ${columns.join(', ')} FROM main.${quoteName(table.schema.name)} WHERE ${keyCondition}`);
    try {
      for (const { key, before } of firstByKey.values()) {
        key.forEach((part, i) => current.bindCell(i + 1, part));
        const after = current.step() ? readStored(current, table, 0) : null;
        current.reset();
        collect(table, before, after, collector);
      }
    } finally {
      current.release();
    }
  }

  private firstEntries(table: CaptureTable): Map<string, FirstEntry> {
    const log = this.connection.prepare(`SELECT * FROM temp.${logName(table)} ORDER BY entry`);
    const firstByKey = new Map<string, FirstEntry>();
    try {
      while (log.step()) {
        const wasThere = log.readCell(1);
        const cells = readStored(log, table, 2);
        const key = table.keyPositions.map((position) => cells[position] as CellValue);
        const identity = keyToString(key);
        if (!firstByKey.has(identity)) firstByKey.set(identity, { key, before: wasThere === 1n ? cells : null });
      }
    } finally {
      log.release();
    }
    return firstByKey;
  }

  end(): void {
    if (this.tables.length === 0) return;
    this.connection.run(`DELETE FROM temp.${SWITCH}`);
    for (const table of this.tables) this.connection.run(`DELETE FROM temp.${logName(table)}`);
  }

  close(): void {
    if (this.tables.length === 0) return;
    for (const table of this.tables) {
      const log = logName(table);
      this.connection.exec([...TRIGGER_NAMES.map((name) => `DROP TRIGGER temp.${log}_${name};`), `DROP TABLE temp.${log};`].join(' '));
    }
    this.connection.exec(`DROP TABLE temp.${SWITCH}`);
  }
}

/** Reads the stored columns of a row that begin at `offset`; a text that is not UTF-8 is refused by its name. */
function readStored(statement: Statement, table: CaptureTable, offset: number): CellValue[] {
  return table.columns.map(({ name }, position) => {
    try {
      return statement.readCell(offset + position);
    } catch (error) {
      if (!(error instanceof RockpoolError)) throw error;
      throw new RockpoolError(error.code, { ...error.fields, table: table.schema.name, column: name });
    }
  });
}

interface FirstEntry {
  readonly key: readonly CellValue[];
  /** Null when the row was not there. */
  readonly before: readonly CellValue[] | null;
}

function collect(table: CaptureTable, before: readonly CellValue[] | null, after: readonly CellValue[] | null, collector: ChangeCollector): void {
  if (after === null) {
    if (before !== null) collector.delete(table, before);
    return;
  }
  if (before === null) {
    after.forEach((value, position) => requireSendable(value, table.schema.name, table.columns[position]?.name ?? ''));
    collector.insert(table, after);
    return;
  }
  const changed = after.map((value, position) => {
    if (cellValuesEqual(value, before[position] as CellValue)) return undefined;
    requireSendable(value, table.schema.name, table.columns[position]?.name ?? '');
    return value;
  });
  if (changed.some((value) => value !== undefined)) collector.update(table, before, changed);
}

function logName(table: CaptureTable): string {
  return `${CAPTURE_PREFIX}${table.schema.id}`;
}

const TRIGGER_NAMES = ['before_insert', 'insert', 'before_update', 'update', 'delete'] as const;

/** The log's columns have no affinity, so that they keep each value as it is. */
function captureDdl(table: CaptureTable): string {
  const log = logName(table);
  const logColumns = table.columns.map((_, i) => `c${i}`);
  const target = quoteName(table.schema.name);
  const oldValues = quotedColumns(table, 'old.').join(', ');
  const newKey = table.keyPositions.map((position) => `new.${quoteName(table.columns[position]?.name ?? '')}`);
  const keyChanged = table.keyPositions.map((position) => quoteName(table.columns[position]?.name ?? '')).map((name) => `old.${name} IS NOT new.${name}`);
  const logOld = `INSERT INTO ${log} (was_there, ${logColumns.join(', ')}) VALUES (1, ${oldValues});`;
  const logAbsent = `INSERT INTO ${log} (was_there, ${table.keyPositions.map((position) => `c${position}`).join(', ')}) VALUES (0, ${newKey.join(', ')});`;
  const logEvicted = evictionConditions(table.schema)
    .map((condition) => `INSERT INTO ${log} (was_there, ${logColumns.join(', ')}) SELECT 1, ${quotedColumns(table, 'evicted.').join(', ')} FROM main.${target} AS evicted WHERE ${condition};`)
    .join('\n    ');
  const trigger = (name: (typeof TRIGGER_NAMES)[number], event: string, condition: string, body: string): string =>
    `CREATE TEMP TRIGGER ${log}_${name} ${event} ON main.${target} WHEN EXISTS (SELECT 1 FROM ${SWITCH})${condition} BEGIN\n    ${body}\n  END;`;
  return [
    `CREATE TEMP TABLE ${log} (entry INTEGER PRIMARY KEY, was_there INTEGER NOT NULL, ${logColumns.join(', ')});`,
    trigger('before_insert', 'BEFORE INSERT', '', logEvicted),
    trigger('insert', 'AFTER INSERT', '', logAbsent),
    trigger('before_update', 'BEFORE UPDATE', '', `${logOld}\n    ${logEvicted}`),
    trigger('update', 'AFTER UPDATE', ` AND (${keyChanged.join(' OR ')})`, logAbsent),
    trigger('delete', 'BEFORE DELETE', '', logOld),
  ].join('\n  ');
}
