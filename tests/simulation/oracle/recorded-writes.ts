import type { OpenDatabase } from '#client/worker/database/open-database.ts';
import type { Connection } from '#client/worker/sqlite/connection.ts';
import type { WriteOutcome } from '#client/rpc/write-request.ts';
import { textsIn } from '../checks.ts';
import { olderSchema } from '../household-schema.ts';
import { marksIn } from '../model.ts';
import { asCheck } from '../work-count.ts';
import {
  linesOf,
  NULL,
  ORACLE_TABLES,
  parseLine,
  readTables,
  rowNameOf,
  tablesOf,
  toLiteral,
  unquoted,
  type Literal,
  type OracleTable,
  type TableTexts,
} from './tables.ts';

/** The change of one row by one transaction, as the rows of the device show it before and after. */
export interface RowWrite {
  readonly table: OracleTable;
  readonly row: string;
  readonly key: readonly Literal[];
  readonly kind: 'insert' | 'update' | 'delete';
  /** For an update, the changed columns with their whole groups; for a counter, the difference. */
  readonly values: ReadonlyMap<string, Literal>;
}

/** One transaction of one device. */
export interface RecordedWrite {
  readonly device: string;
  /** The devices that may send it: a copy of the device's files sends it too. */
  readonly holders: Set<string>;
  /** Hex. */
  readonly site: string;
  readonly sequence: number;
  readonly mark: string | null;
  /** The device's stamp of a write without a mark, which tells it from others of the same rows. */
  readonly stampUs: number | null;
  readonly rows: readonly RowWrite[];
  readonly isAtomic: boolean;
  /** What the device had seen: the watermark, and the log to which it belongs. Null if there is no log yet. */
  readonly cursor: number;
  readonly epoch: string | null;
  /** How many log epochs the server had begun. */
  readonly epochsBegun: number;
  /** Whether the device waited for a full resync. */
  readonly awaitsFullResync: boolean;
  /**
   * The watermarks up to which the author had seen cells that its own earlier writes covered (`hiddenCell`). Null if
   * unknown.
   */
  readonly hidden: ReadonlyMap<string, number> | null;
  /** The first write, which this one repeats. */
  readonly root: object;
  /** The writes that the author's file had before. */
  readonly past: PastWrites;
}

/** The first `count` writes of one file, as their roots. */
export interface PastWrites {
  readonly roots: ReadonlyMap<object, number>;
  readonly count: number;
}

/** A write that has not returned. If the device dies meanwhile, the write may be stored. */
interface Interrupted {
  readonly before: TableTexts;
  readonly isAtomic: boolean;
  readonly original: RecordedWrite | undefined;
}

/** The rows that a connection showed last. */
interface KnownTexts {
  readonly version: string;
  readonly texts: TableTexts;
}

export interface WriteKind {
  readonly isAtomic: boolean;
  /** The rejected changeset that is written again. */
  readonly ofSequence: number | null;
  /** The rows before a transaction of several calls. Default: the rows before the call. */
  readonly before?: TableTexts;
}

export const WHOLE_ROW = '*';

export function hiddenCell(row: string, column: string): string {
  return `${row}\u001d${column}`;
}

/**
 * Records each transaction when the page writes it: the rows before and after, and what the device had seen by then.
 */
export class RecordedWrites {
  /** The number of log epochs, counted by the oracle. */
  epochsBegun = 0;
  /** Writes by device, and within it by site and sequence. */
  private readonly byDevice = new Map<string, Map<string, RecordedWrite>>();
  /** The writes of each device's file, by root, with their places in order. */
  private readonly pastOf = new Map<string, Map<object, number>>();
  /** The site ids under which each device's file has connected, in order. */
  private readonly sitesOf = new Map<string, readonly string[]>();
  private readonly byMark = new Map<string, RecordedWrite>();
  /** Writes that a device lost but may have sent; it uses their numbers again. */
  private readonly lost: RecordedWrite[] = [];
  private readonly repetitions = new Map<string, RecordedWrite>();
  private readonly interrupted = new Map<string, Interrupted>();
  private readonly known = new WeakMap<Connection, KnownTexts>();

  /** Performs a write of the device and records it. */
  around(device: string, database: OpenDatabase, kind: WriteKind, body: () => WriteOutcome): WriteOutcome {
    const before = kind.before ?? asCheck(() => this.textsOf(database));
    const { isAtomic, ofSequence } = kind;
    const original = ofSequence === null ? undefined : asCheck(() => this.originalOf(device, database, ofSequence));
    // The outcome is unknown until the write returns.
    this.interrupted.set(device, { isAtomic, original, before });
    const outcome = body();
    this.interrupted.delete(device);
    const { sequence, repeated } = outcome;
    if (sequence !== null && !repeated)
      asCheck(() => this.record(device, database, sequence, { before, isAtomic, original }));
    return outcome;
  }

  /** A device connects as this site (hex). */
  noteSite(device: string, site: string): void {
    const known = this.sitesOf.get(device) ?? [];
    if (!known.includes(site)) this.sitesOf.set(device, [...known, site]);
  }

  /** Whether a file that connects as `site` had the site id `earlier` before, but not before it had `first`. */
  hadSite(site: string, earlier: string, first: string): boolean {
    return [...this.sitesOf.values()].some((sites) => {
      const [begun, before, now] = [sites.indexOf(first), sites.indexOf(earlier), sites.indexOf(site)];
      return begun >= 0 && begun <= before && before < now;
    });
  }

  /** The rows that a transaction of several calls begins with. */
  contentOf(database: OpenDatabase): TableTexts {
    return asCheck(() => this.textsOf(database));
  }

  /** Called when a check has just read all rows. */
  noteTexts({ connection }: OpenDatabase, texts: TableTexts): void {
    this.known.set(connection, { version: versionOf(connection), texts });
  }

  /** Called if a write failed and the tab is alive: no part of the write is stored. */
  forgetInterrupted(device: string): void {
    this.interrupted.delete(device);
  }

  /** Called when the database was opened again. The last worker may have died between its COMMIT and its response. */
  onOpened(device: string, database: OpenDatabase): void {
    const interrupted = this.interrupted.get(device);
    this.interrupted.delete(device);
    const head = database.changelog.head().sequence;
    const own = this.ofDevice(device);
    const site = siteOf(database);
    if (interrupted === undefined || head === 0 || own.has(`${site} ${head}`)) return;
    if (own.has(`${site} ${head - 1}`) || head === 1) this.record(device, database, head, interrupted);
  }

  /** Called when the device may have lost what its storage had not flushed. */
  forgetLost(device: string, database: OpenDatabase): void {
    this.interrupted.delete(device);
    this.known.delete(database.connection);
    const head = database.changelog.head().sequence;
    const own = this.ofDevice(device);
    const site = siteOf(database);
    for (const [name, write] of own) {
      if (write.site !== site || write.sequence <= head) continue;
      own.delete(name);
      this.lost.push(write);
    }
    this.pastOf.set(device, new Map([...own.values()].map(({ root }, place) => [root, place])));
  }

  /** A copy of the device's files has the same writes. */
  copy(device: string, copy: string): void {
    const own = this.ofDevice(device);
    for (const write of own.values()) write.holders.add(copy);
    this.byDevice.set(copy, new Map(own));
    this.pastOf.set(copy, new Map(this.pastOf.get(device)));
    this.sitesOf.set(copy, [...(this.sitesOf.get(device) ?? [])]);
  }

  /** The writes that a log entry may represent: a device and its copy may both have one, and a device may have two. */
  of(site: string, sequence: number): RecordedWrite[] {
    const name = `${site} ${sequence}`;
    const kept = [...this.byDevice.values()].flatMap((own) => own.get(name) ?? []);
    const lost = this.lost.filter((write) => write.site === site && write.sequence === sequence);
    return [...new Set([...kept, ...lost])];
  }

  /** The transaction that a device wrote again under a different site and number, as after a copy of its files. */
  repeated(device: string, database: OpenDatabase, sequence: number): RecordedWrite | undefined {
    const name = `${siteOf(database)} ${sequence}`;
    const known = this.repetitions.get(name);
    if (known !== undefined) return known;
    const { mark, rows } = namesOf(database, sequence);
    const write = mark === undefined ? this.unmarked(device, stampOf(database, sequence), rows) : this.byMark.get(mark);
    if (write !== undefined) this.repetitions.set(name, write);
    return write;
  }

  /** An edit of a document that the device makes again has a new stamp, but the same rows. */
  private unmarked(device: string, stampUs: number | null, rows: string): RecordedWrite | undefined {
    const taken = new Set(this.repetitions.values());
    const left = [...this.ofDevice(device).values()].filter((one) => one.mark === null && !taken.has(one));
    return left.find((one) => one.stampUs === stampUs) ?? left.find((one) => rowNames(one.rows) === rows);
  }

  /** The write of a rejected changeset, which has a different number once the device continues as a new site. */
  private originalOf(device: string, database: OpenDatabase, sequence: number): RecordedWrite | undefined {
    const known = this.ofDevice(device).get(`${siteOf(database)} ${sequence}`);
    if (known !== undefined) return known;
    const { mark } = namesOf(database, sequence);
    return mark === undefined ? undefined : this.byMark.get(mark);
  }

  /** Most writes begin with the rows that the one before them left. */
  private textsOf(database: OpenDatabase): TableTexts {
    const { connection } = database;
    const version = versionOf(connection);
    const known = this.known.get(connection);
    if (known !== undefined && known.version === version) return known.texts;
    const texts = readTables(textsIn(database), database.schema);
    this.known.set(connection, { version, texts });
    return texts;
  }

  private ofDevice(device: string): Map<string, RecordedWrite> {
    const own = this.byDevice.get(device) ?? new Map<string, RecordedWrite>();
    this.byDevice.set(device, own);
    return own;
  }

  private record(
    device: string,
    database: OpenDatabase,
    sequence: number,
    { before, isAtomic, original }: Interrupted,
  ): void {
    const own = this.ofDevice(device);
    const site = siteOf(database);
    const { cursor, logEpoch, wantsFullResync } = database.meta;
    const epoch = logEpoch === null ? null : Buffer.from(logEpoch).toString('hex');
    const rows = changedRows(tablesOf(database.schema), before, this.textsOf(database));
    const markRow = rows.find(({ table, kind }) => table.name === 'mark' && kind === 'insert');
    const hidden = hiddenCells(own, database, { site, sequence, epoch });
    if (hidden !== null && wantsFullResync) hideNewer(hidden, rows);
    const past = this.pastOf.get(device) ?? new Map<object, number>();
    this.pastOf.set(device, past);
    const write: RecordedWrite = {
      device,
      holders: new Set([device]),
      site,
      sequence,
      mark: markRow === undefined ? null : unquoted(markRow.key[0] as Literal),
      stampUs: markRow === undefined ? stampOf(database, sequence) : null,
      rows,
      isAtomic: isAtomic || original?.isAtomic === true,
      cursor,
      epoch,
      epochsBegun: this.epochsBegun,
      awaitsFullResync: wantsFullResync,
      hidden,
      root: original?.root ?? {},
      past: { roots: past, count: past.size },
    };
    if (!past.has(write.root)) past.set(write.root, past.size);
    own.set(`${site} ${sequence}`, write);
    if (write.mark !== null) this.byMark.set(write.mark, write);
  }
}

/**
 * The base of every cell that earlier pending writes of the device cover, without masked writes, which the device does
 * not show. Null if unknown.
 */
function hiddenCells(
  own: ReadonlyMap<string, RecordedWrite>,
  database: OpenDatabase,
  { site, sequence, epoch }: { readonly site: string; readonly sequence: number; readonly epoch: string | null },
): Map<string, number> | null {
  const hidden = new Map<string, number>();
  const masked = database.rejected.sequences();
  for (let pending = database.outbox.lastAckedSequence() + 1; pending < sequence; pending++) {
    const write = own.get(`${site} ${pending}`);
    if (write === undefined || write.hidden === null || write.epoch !== epoch) return null;
    if (masked.has(pending)) continue;
    for (const { table, row, kind, values } of write.rows) {
      const columns = kind === 'update' ? [...values.keys()] : [WHOLE_ROW, ...table.values];
      for (const column of columns) {
        const cell = hiddenCell(row, column);
        const base = Math.min(write.cursor, write.hidden.get(cell) ?? write.cursor);
        hidden.set(cell, Math.min(base, hidden.get(cell) ?? base));
      }
    }
  }
  return hidden;
}

/** A column that an older version of the app does not name receives its default, which is NULL. */
function withDefaults({ name }: OracleTable, values: ReadonlyMap<string, Literal>): ReadonlyMap<string, Literal> {
  const missing = (ORACLE_TABLES.get(name)?.values ?? []).filter((column) => !values.has(column));
  return missing.length === 0 ? values : new Map([...values, ...missing.map((column) => [column, NULL] as const)]);
}

/**
 * The app was updated, and the cells that only the newer version has have not arrived yet. A write of such a cell has
 * not seen the server's value. A delete also deletes the values that have not arrived, even if an earlier pending write
 * covers them (MR-02).
 */
function hideNewer(hidden: Map<string, number>, rows: readonly RowWrite[]): void {
  for (const { table, row, kind } of rows) {
    const older = tablesOf(olderSchema).get(table.name);
    if (older === undefined) {
      hidden.set(hiddenCell(row, WHOLE_ROW), 0);
      continue;
    }
    for (const column of table.values) {
      if (older.values.includes(column)) continue;
      if (kind === 'delete') hidden.delete(hiddenCell(row, column));
      else hidden.set(hiddenCell(row, column), 0);
    }
  }
}

function changedRows(tables: ReadonlyMap<string, OracleTable>, before: TableTexts, after: TableTexts): RowWrite[] {
  const rows: RowWrite[] = [];
  for (const table of tables.values()) {
    const [oldText, newText] = [before.get(table.name) as string, after.get(table.name) as string];
    if (oldText === newText) continue;
    const [old, now] = [linesOf(oldText), linesOf(newText)];
    const [known, kept] = [new Set(old), new Set(now)];
    const was = new Map(
      old.filter((line) => !kept.has(line)).map((line) => [rowNameOf(table, parseLine(table, line).key), line]),
    );
    for (const line of now) {
      if (known.has(line)) continue;
      const { key, values } = parseLine(table, line);
      const row = rowNameOf(table, key);
      const oldLine = was.get(row);
      was.delete(row);
      rows.push(
        oldLine === undefined
          ? { table, row, key, kind: 'insert', values: withDefaults(table, values) }
          : { table, row, key, kind: 'update', values: changes(table, parseLine(table, oldLine).values, values) },
      );
    }
    for (const [row, line] of was)
      rows.push({ table, row, key: parseLine(table, line).key, kind: 'delete', values: new Map() });
  }
  return rows;
}

function changes(
  { counters, groups }: OracleTable,
  before: ReadonlyMap<string, Literal>,
  after: ReadonlyMap<string, Literal>,
): ReadonlyMap<string, Literal> {
  const columns = new Set([...after.keys()].filter((column) => before.get(column) !== after.get(column)));
  for (const group of groups)
    if (group.some((column) => columns.has(column))) for (const one of group) columns.add(one);
  return new Map(
    [...columns].map((column) => {
      const [old, now] = [before.get(column) as Literal, after.get(column) as Literal];
      return [column, counters.has(column) ? String(BigInt(now) - BigInt(old)) : now];
    }),
  );
}

function rowNames(rows: readonly RowWrite[]): string {
  return rows
    .map(({ row }) => row)
    .sort()
    .join();
}

/** Changes with every change of the rows, by this connection or by another one. */
function versionOf(connection: Connection): string {
  return `${connection.totalChanges} ${String(connection.value('PRAGMA data_version'))}`;
}

/** Stays the same when the changeset gets another site and sequence. */
function stampOf(database: OpenDatabase, sequence: number): number | null {
  return database.changelog.read(sequence)?.stampUs ?? null;
}

function siteOf(database: OpenDatabase): string {
  return Buffer.from(database.siteId).toString('hex');
}

/** What identifies the transaction of a changeset in the changelog: its mark, or the rows that it names. */
function namesOf(
  database: OpenDatabase,
  sequence: number,
): { readonly mark: string | undefined; readonly rows: string } {
  const rows = (database.changelog.read(sequence)?.groups ?? []).flatMap(({ tableId, keys, rowCount }) => {
    const table = [...ORACLE_TABLES.values()].find(({ id }) => id === tableId);
    return Array.from({ length: table === undefined ? 0 : rowCount }, (_, row) =>
      rowNameOf(
        table as OracleTable,
        keys.map((part) => toLiteral(part[row])),
      ),
    );
  });
  return { mark: marksIn(database, sequence)[0], rows: rows.sort().join() };
}
