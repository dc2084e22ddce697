import { keyToString, tableIdOf, columnIdOf, type CellValue, type ChangeKind } from '#shared/index.ts';
import { Withdrawals } from './withdrawals.ts';
import { NEWER_COLUMN_IDS, olderSchema, ROOM_RULES, roomChild } from './household-schema.ts';
import type { SqlStatement } from '#client/rpc/sql-statement.ts';
import type { OpenDatabase } from '#client/worker/database/open-database.ts';

/** One cell of one row, as text. */
export interface WrittenCell {
  readonly row: string;
  readonly columnId: number;
  /** The value that its author saw, and the value that it wrote; null for none. */
  readonly before: CellValue;
  readonly after: CellValue;
}

/** One transaction of one device, identified by its mark. */
export interface Commit {
  readonly mark: string;
  readonly device: string;
  readonly site: Uint8Array;
  readonly sequence: number;
  readonly cells: readonly WrittenCell[];
  /**
   * Earlier transactions of the same site that were masked when this one was written: their values were not visible.
   */
  readonly masked: ReadonlySet<number>;
}

export interface UnmarkedWrite {
  readonly device: string;
  readonly site: Uint8Array;
  readonly sequence: number;
  /** The length of `inOrder` when this write was recorded. */
  readonly commitsBefore: number;
  readonly cells: readonly WrittenCell[];
  /** See Commit. */
  readonly masked: ReadonlySet<number>;
}

/** Which transactions the storage must not lose. */
export interface Promised {
  /** Transactions that a worker of the site handed to the network. */
  readonly sent: boolean;
  /** Transactions that the page knows to be written. */
  readonly acknowledged: boolean;
}

export const MARK: number = tableIdOf('mark');

/** The writes that must not be lost, recorded outside the devices when their storage confirmed them. */
export class Model {
  /** Transactions by mark. One that was retried after a rejection has several entries. */
  readonly commits = new Map<string, Commit[]>();
  readonly marksOf = new Map<string, Set<string>>();
  readonly draftsOf = new Map<string, Set<number>>();
  /** All transactions; those of each device are in order. */
  inOrder: Commit[] = [];
  /** Writes without a mark: values restored from the conflict log, and text typed into documents. */
  unmarked: UnmarkedWrite[] = [];
  /** Marks that a device shares with its copy: only one of the two received their outcome. */
  readonly shared = new Set<string>();
  /**
   * By mark, the device that retried a rejected changeset that it shares with its copy: a retry by both would apply it
   * twice.
   */
  private readonly triedAgainBy = new Map<string, string>();
  /** Rejected changesets that their device dropped. */
  readonly dropped = new Set<string>();
  /** Writes that failed for their author after their writer had closed. */
  readonly refused = new Set<string>();
  /** Atomic transactions. */
  readonly atomic = new Set<string>();
  /** Transactions whose promise resolved in the page. */
  readonly acknowledged = new Set<string>();
  /**
   * Cells of deleted rows that the device did not show: its app was of an older version, or had been updated and waited
   * for the full resync.
   */
  readonly deletedUnknown = new Set<string>();
  readonly withdrawals: Withdrawals = new Withdrawals(marksIn);
  private readonly recordedUpTo = new Map<string, number>();
  /** The last sequence sent, by device and site (hex). */
  private readonly sentUpTo = new Map<string, number>();

  /** Records the changesets that are new in the changelog of a device. */
  record(device: string, database: OpenDatabase): void {
    const masked = database.rejected.sequences();
    const site = `${device} ${Buffer.from(database.siteId).toString('hex')}`;
    const lacksColumns = database.schema.hash === olderSchema.hash || database.meta.wantsFullResync;
    for (const { sequence, groups, before } of database.changelog.readAfter(this.recordedUpTo.get(site) ?? 0)) {
      this.recordedUpTo.set(site, sequence);
      const cells: WrittenCell[] = [];
      let mark: string | null = null;
      for (const [index, group] of groups.entries()) {
        const old = before[index];
        for (let r = 0; r < group.rowCount; r++) {
          const key = group.keys.map((part) => part[r] ?? null);
          if (group.tableId === MARK && group.kind === 'insert') mark = String(key[0]);
          const row = `${group.tableId}:${keyToString(key)}`;
          if (group.kind === 'delete' && lacksColumns)
            for (const columnId of NEWER_COLUMN_IDS.get(group.tableId) ?? [])
              this.deletedUnknown.add(`${row} ${columnId}`);
          const oldValue = (columnId: number): CellValue => old?.values[old.columnIds.indexOf(columnId)]?.[r] ?? null;
          const columnIds = columnsOf(group.kind, group.columnIds, old?.columnIds ?? []);
          for (const columnId of columnIds) {
            const after =
              group.kind === 'delete' ? null : (group.values[group.columnIds.indexOf(columnId)]?.[r] ?? null);
            cells.push({ row, columnId, before: oldValue(columnId), after });
          }
        }
      }
      if (mark === null) {
        this.unmarked.push({
          device,
          site: database.siteId,
          sequence,
          commitsBefore: this.inOrder.length,
          cells,
          masked,
        });
        continue;
      }
      // The device died while it stored the transaction, so its copy was recorded first.
      if (
        this.commits
          .get(mark)
          ?.some(
            (other) =>
              other.device !== device && other.sequence === sequence && isSameSite(other.site, database.siteId),
          ) === true
      )
        this.shared.add(mark);
      const commit = { mark, device, site: database.siteId, sequence, cells, masked };
      this.inOrder.push(commit);
      this.commits.set(mark, [...(this.commits.get(mark) ?? []), commit]);
      this.add(this.marksOf, device, mark);
    }
  }

  /** A copy of a device's files starts with the device's record. */
  copy(device: string, copy: string): void {
    for (const mark of this.marksOf.get(device) ?? []) this.shared.add(mark);
    // Either of the two may send a transaction that only one of them withdraws.
    this.withdrawals.end([...this.shared]);
    this.withdrawals.copy(device, copy);
    for (const [site, sequence] of [...this.recordedUpTo])
      if (site.startsWith(`${device} `)) this.recordedUpTo.set(site.replace(`${device} `, `${copy} `), sequence);
    this.draftsOf.set(copy, new Set(this.draftsOf.get(device)));
  }

  /**
   * Whether a device may retry the changesets with these marks: the user retries on only one of two copies. Returning
   * true records the retry.
   */
  triesAgain(device: string, marks: readonly string[]): boolean {
    const shared = marks.filter((mark) => this.shared.has(mark));
    if (shared.some((mark) => (this.triedAgainBy.get(mark) ?? device) !== device)) return false;
    for (const mark of shared) this.triedAgainBy.set(mark, device);
    return true;
  }

  /** Called when a worker of the site hands changesets to the network. From now on, they must survive a power cut. */
  recordSent(device: string, site: string, upTo: number): void {
    // A copy of the device's files has the same site and its own sequence numbers.
    const name = `${device} ${site}`;
    this.sentUpTo.set(name, Math.max(upTo, this.sentUpTo.get(name) ?? 0));
  }

  /** Whether the device has handed the transaction to the network. */
  wasSent(device: string, mark: string): boolean {
    return (this.commits.get(mark) ?? []).some(
      (commit) =>
        commit.device === device && commit.sequence <= (this.sentUpTo.get(`${device} ${hexOf(commit.site)}`) ?? 0),
    );
  }

  /** Hex: the site ids under which the device has written the transaction so far. */
  sitesOf(device: string, mark: string): string[] {
    return (this.commits.get(mark) ?? []).filter((commit) => commit.device === device).map(({ site }) => hexOf(site));
  }

  /**
   * Called when the storage may have lost transactions: after a power cut, or when it undid a commit. Removes the lost
   * ones. Returns a promised transaction that is lost, and the number of lost ones.
   */
  forgetLost(
    device: string,
    database: OpenDatabase,
    promised: Promised,
  ): { readonly fault: string | null; readonly lost: number } {
    // A rejected changeset of a former site has a number below 0.
    const sequences = [...database.changelog.readAfter(0)].map(({ sequence }) => sequence);
    const here = new Set(
      [...sequences, ...database.rejected.sequences()].flatMap((sequence) => marksIn(database, sequence)),
    );
    const shown = new Set(database.connection.rows('SELECT id FROM mark').map(([id]) => String(id)));
    const isOfDevice = (commit: { readonly device: string }): boolean => commit.device === device;
    const wasSent = (mark: string): boolean => this.wasSent(device, mark);
    const gone = [...(this.marksOf.get(device) ?? [])].filter(
      (mark) => !here.has(mark) && !shown.has(mark) && !this.dropped.has(mark) && !this.shared.has(mark),
    );
    const lost = new Set<string>();
    for (const mark of gone) {
      const isSent = wasSent(mark);
      if (promised.sent && isSent) return { fault: `the transaction ${mark} was sent, and is lost`, lost: 0 };
      if (promised.acknowledged && this.acknowledged.has(mark))
        return { fault: `the transaction ${mark} was acknowledged, and is lost`, lost: 0 };
      if (!isSent) lost.add(mark);
    }
    // The server may have what was sent, and then sends it back. If the server rejected it, the rejection may be lost
    // too.
    if (!promised.sent)
      for (const mark of this.marksOf.get(device) ?? []) if (wasSent(mark)) this.marksOf.get(device)?.delete(mark);
    const head = database.changelog.head().sequence;
    const site = hexOf(database.siteId);
    const key = `${device} ${site}`;
    this.recordedUpTo.set(key, Math.min(head, this.recordedUpTo.get(key) ?? 0));
    const mayBeKept = (write: UnmarkedWrite): boolean =>
      !promised.sent && write.sequence <= (this.sentUpTo.get(key) ?? 0);
    this.inOrder = this.inOrder.filter((commit) => !(isOfDevice(commit) && lost.has(commit.mark)));
    this.unmarked = this.unmarked.filter(
      (write) => !(isOfDevice(write) && hexOf(write.site) === site && write.sequence > head && !mayBeKept(write)),
    );
    for (const mark of lost) {
      this.marksOf.get(device)?.delete(mark);
      const left = (this.commits.get(mark) ?? []).filter((commit) => !isOfDevice(commit));
      if (left.length === 0) this.commits.delete(mark);
      else this.commits.set(mark, left);
    }
    this.draftsOf.set(device, new Set(database.connection.rows('SELECT id FROM draft').map(([id]) => Number(id))));
    return { fault: null, lost: lost.size };
  }

  recordDropped(marks: readonly string[]): void {
    for (const mark of marks) this.dropped.add(mark);
  }

  recordLocal(device: string, statements: readonly SqlStatement[]): void {
    for (const { sql, params } of statements)
      if (sql.startsWith('INSERT INTO draft')) this.add(this.draftsOf, device, Number(params[0]));
  }

  private add<T>(sets: Map<string, Set<T>>, name: string, item: T): void {
    const set = sets.get(name) ?? new Set<T>();
    sets.set(name, set.add(item));
  }
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

function isSameSite(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

/** The marks of one changeset in a changelog. */
export function marksIn(database: OpenDatabase, sequence: number): string[] {
  const groups = database.changelog.read(sequence)?.groups ?? [];
  return groups.flatMap(({ tableId, keys }) => (tableId === MARK ? (keys[0] ?? []).map(String) : []));
}

function columnsOf(kind: ChangeKind, written: readonly number[], old: readonly number[]): readonly number[] {
  return kind === 'delete' ? old : written;
}

export interface LedgerRow {
  readonly lost: string;
  readonly won: string;
  readonly lostSite: string;
  readonly wonSite: string;
}

/**
 * The later corrected stamp wins between concurrent writes; ties are decided by the greater site id. Returns a
 * conflict-log row that contradicts this. A value is identified by its text; `stampOf` returns the stamp that the
 * server logged for a transaction.
 */
export function wrongWinner(
  model: Model,
  ledger: readonly LedgerRow[],
  stampOf: (mark: string) => number | null,
): string | null {
  const markOf = new Map<string, string>();
  for (const { mark, cells } of model.inOrder)
    for (const { after } of cells) if (typeof after === 'string' && after.startsWith(mark)) markOf.set(after, mark);
  // A restored value was written by the user who restored it, later than the transaction that its text names.
  const restored = new Set(model.unmarked.flatMap(({ cells }) => cells.map(({ after }) => after)));
  for (const { lost, won, lostSite, wonSite } of ledger) {
    if (restored.has(lost) || restored.has(won)) continue;
    const [loser, winner] = [stampOf(markOf.get(lost) ?? ''), stampOf(markOf.get(won) ?? '')];
    if (loser === null || winner === null) continue;
    if (loser > winner || (loser === winner && lostSite > wonSite))
      return `${won} of ${winner} won over ${lost} of ${loser}`;
  }
  return null;
}

/** No write of an atomic transaction loses at admission. It may lose later, to other writes. */
export function brokenAtomic(
  model: Model,
  conflicts: readonly { readonly lost: string; readonly watermark: number }[],
  watermarkOf: (mark: string) => number | null,
): string | null {
  for (const { lost, watermark } of conflicts) {
    const [mark = ''] = lost.split('/');
    if (model.atomic.has(mark) && watermarkOf(mark) === watermark)
      return `${lost} lost, of a transaction that was to be whole`;
  }
  return null;
}

/** Columns in which each write has a unique text, so that it can be traced. */
const FOLLOWED = new Map(
  [
    ['account', ['note']],
    ['entry', ['note']],
    ['label', ['content']],
    ['goal', ['note']],
    ['plan', ['title', 'detail']],
    ['trip', ['title']],
    ['half', ['token']],
    ['room', ['note']],
    ['project', ['title']],
    ['task', ['note']],
    ...ROOM_RULES.map((rule) => [roomChild(rule), ['note']] as [string, string[]]),
  ].map(([table, columns]) => [
    tableIdOf(table as string),
    { table: table as string, columns: new Map((columns as string[]).map((name) => [columnIdOf(name), name])) },
  ]),
);

export interface Ending {
  /** Marks on the server: the admitted transactions. */
  readonly admitted: ReadonlySet<string>;
  /** Every text in a traced column of the server. */
  readonly visible: ReadonlySet<string>;
  /** Every text that the conflict log records as lost. */
  readonly lost: ReadonlySet<string>;
  /**
   * A restored server receives changesets again in a different order. A device's overwrite of its own value then counts
   * as seen.
   */
  readonly wasRestored: boolean;
}

/**
 * Reports an admitted value that is not present, was not overwritten by a writer who saw it, and is not in the conflict
 * log. A writer who overwrites a value has also seen the values that were overwritten before it on the same device, and
 * those that this device had rejected.
 */
export function vanishedValue(model: Model, { admitted, visible, lost, wasRestored }: Ending): string | null {
  const seenBelow = new Map<string, readonly string[]>();
  const overwritten = model.unmarked.flatMap((write) => writtenOver(model, write, wasRestored));
  const followed: { value: string; commit: Commit; name: string; cell: string }[] = [];
  // A write of NULL has no text of its own: its cell and mark identify it.
  const nullOf = (place: string, mark: string): string => `NULL of ${place} in ${mark}`;
  const lastOwn = new Map<string, { readonly value: string; readonly commit: Commit }>();
  for (const commit of model.inOrder) {
    for (const { row, columnId, before, after } of commit.cells) {
      const column = followedColumn(row, columnId);
      if (column === null) continue;
      const place = `${commit.device} ${row} ${columnId}`;
      const own = lastOwn.get(place);
      const ownIsBelow =
        own !== undefined &&
        (before === null ||
          wasRestored ||
          (Buffer.compare(own.commit.site, commit.site) === 0 && commit.masked.has(own.commit.sequence)));
      const below = [...(typeof before === 'string' ? [before] : []), ...(ownIsBelow ? [own.value] : [])];
      const value = typeof after === 'string' ? after : nullOf(place, commit.mark);
      seenBelow.set(value, [...(seenBelow.get(value) ?? []), ...below]);
      lastOwn.set(place, { value, commit });
      // The last record of a transaction counts if it was sent again after a rejection.
      if (!admitted.has(commit.mark) || model.commits.get(commit.mark)?.at(-1) !== commit) continue;
      // Its earlier records count, too: a new site id hides that a rejected changeset of the old one was below.
      overwritten.push(...(seenBelow.get(value) ?? []));
      if (typeof after === 'string') followed.push({ value: after, commit, name: column, cell: `${row} ${columnId}` });
    }
  }
  const gone = new Set<string>();
  for (let value = overwritten.pop(); value !== undefined; value = overwritten.pop()) {
    if (gone.has(value)) continue;
    gone.add(value);
    overwritten.push(...(seenBelow.get(value) ?? []));
  }
  for (const { value, commit, name, cell } of followed) {
    // A delete of a row also deletes cells that the app does not show.
    if (model.deletedUnknown.has(cell)) continue;
    if (!visible.has(value) && !lost.has(value) && !gone.has(value))
      return `${name} = ${value}, written by ${commit.device} in ${commit.mark}, is lost without a trace`;
  }
  return null;
}

function writtenOver(
  model: Model,
  { device, site, commitsBefore, cells, masked }: UnmarkedWrite,
  wasRestored: boolean,
): string[] {
  const isBelow = (commit: Commit): boolean =>
    commit.device === device && (wasRestored || (isSameSite(commit.site, site) && masked.has(commit.sequence)));
  const ownBefore = model.inOrder.slice(0, commitsBefore).filter(isBelow);
  return cells.flatMap(({ row, columnId, before }) => {
    if (followedColumn(row, columnId) === null) return [];
    const own = ownBefore.flatMap((commit) =>
      commit.cells.filter((cell) => cell.row === row && cell.columnId === columnId).map(({ after }) => after),
    );
    return [before, ...own].filter((value) => typeof value === 'string');
  });
}

function followedColumn(row: string, columnId: number): string | null {
  const tableId = Number(row.slice(0, row.indexOf(':')));
  const table = FOLLOWED.get(tableId);
  const name = table?.columns.get(columnId);
  return table === undefined || name === undefined
    ? null
    : `${table.table}.${name} of ${row.slice(row.indexOf(':') + 1)}`;
}

export const FOLLOWED_COLUMNS: readonly { readonly table: string; readonly column: string }[] = [
  ...FOLLOWED.values(),
].flatMap(({ table, columns }) => [...columns.values()].map((column) => ({ table, column })));
