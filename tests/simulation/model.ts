import {
  keyToString,
  tableIdOf,
  columnIdOf,
  type CellValue,
  type ChangeKind,
} from '../../packages/shared/src/index.ts';
import { ROOM_RULES, roomChild } from './household-schema.ts';
import type { SqlStatement } from '../../packages/client/src/rpc/sql-statement.ts';
import type { OpenDatabase } from '../../packages/client/src/worker/database/open-database.ts';

/** One cell of one row, in words. */
export interface WrittenCell {
  readonly row: string;
  readonly columnId: number;
  /** What its author saw there, and what it wrote; null where there was nothing, or nothing is left. */
  readonly before: CellValue;
  readonly after: CellValue;
}

/** One transaction of one device, known by the mark that it left. */
export interface Commit {
  readonly mark: string;
  readonly device: string;
  readonly site: Uint8Array;
  readonly sequence: number;
  readonly cells: readonly WrittenCell[];
  /**
   * Earlier ones of the same site that stood against other rows as this was written: their values were not to be seen.
   */
  readonly masked: ReadonlySet<number>;
}

export interface UnmarkedWrite {
  readonly device: string;
  readonly site: Uint8Array;
  readonly sequence: number;
  /** How many of `inOrder` there were before. */
  readonly commitsBefore: number;
  readonly cells: readonly WrittenCell[];
  /** See Commit. */
  readonly masked: ReadonlySet<number>;
}

export const MARK: number = tableIdOf('mark');

/** What the devices have been promised, noted beside them as their storage confirmed it. */
export class Model {
  /** By mark. Sent again after it was rejected, a transaction has several. */
  readonly commits = new Map<string, Commit[]>();
  readonly marksOf = new Map<string, Set<string>>();
  readonly draftsOf = new Map<string, Set<number>>();
  /** All of them, those of each device in their order. */
  inOrder: Commit[] = [];
  /** What was written without a mark: what somebody had restored from the ledger, and what was typed into documents. */
  unmarked: UnmarkedWrite[] = [];
  /** Marks that a device and a copy of it both had: what became of them, only one of the two was told. */
  readonly shared = new Set<string>();
  /**
   * By mark, the device that tried again what it and a copy of it both had rejected: tried again by both, it would be
   * made twice.
   */
  private readonly triedAgainBy = new Map<string, string>();
  /** Rejected changesets that their device has given up. */
  readonly dropped = new Set<string>();
  /** Transactions that take effect whole or not at all. */
  readonly atomic = new Set<string>();
  /** Transactions whose promise was kept to the page. */
  readonly acknowledged = new Set<string>();
  private readonly recordedUpTo = new Map<string, number>();
  /** By device and site, in hex. */
  private readonly sentUpTo = new Map<string, number>();

  /** Notes what the changelog of a device holds that is not noted yet. */
  record(device: string, database: OpenDatabase): void {
    const masked = database.rejected.sequences();
    const site = `${device} ${Buffer.from(database.siteId).toString('hex')}`;
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
      // Its copy had it before it was noted here: the device died as it stored it.
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

  /** A copy of a device's files begins with what the device had noted. */
  copy(device: string, copy: string): void {
    for (const mark of this.marksOf.get(device) ?? []) this.shared.add(mark);
    for (const [site, sequence] of [...this.recordedUpTo])
      if (site.startsWith(`${device} `)) this.recordedUpTo.set(site.replace(`${device} `, `${copy} `), sequence);
    this.draftsOf.set(copy, new Set(this.draftsOf.get(device)));
  }

  /**
   * Whether a device may try again what bears these marks: its owner does so on one of two copies. True notes that it
   * does.
   */
  triesAgain(device: string, marks: readonly string[]): boolean {
    const shared = marks.filter((mark) => this.shared.has(mark));
    if (shared.some((mark) => (this.triedAgainBy.get(mark) ?? device) !== device)) return false;
    for (const mark of shared) this.triedAgainBy.set(mark, device);
    return true;
  }

  /**
   * Whether two of these devices, of which one is a copy, have each made one transaction of both anew: by being asked
   * to, or by themselves after a rejection. Its row is the same row, and what it adds to a counter is added twice: a
   * known limit (decision 0027).
   */
  isMadeTwice(databases: readonly OpenDatabase[]): boolean {
    const times = new Map<string, number>();
    for (const database of databases) {
      const last = new Map(
        [...database.changelog.readAfter(0)].flatMap(({ sequence }) =>
          marksIn(database, sequence).map((mark) => [mark, sequence] as const),
        ),
      );
      for (const [mark, sequence] of last) {
        const original = this.shared.has(mark) ? this.commits.get(mark)?.[0] : undefined;
        const isAnew =
          original !== undefined && !(original.sequence === sequence && isSameSite(original.site, database.siteId));
        if (isAnew) times.set(mark, (times.get(mark) ?? 0) + 1);
      }
    }
    return [...times.values()].some((count) => count > 1);
  }

  /** A worker of the site hands these to the network. From now on they must outlast a power cut. */
  recordSent(device: string, site: string, upTo: number): void {
    // A copy of the device's files has the same site, and numbers of its own.
    const name = `${device} ${site}`;
    this.sentUpTo.set(name, Math.max(upTo, this.sentUpTo.get(name) ?? 0));
  }

  /**
   * The device has lost power. What its storage had not flushed may be gone, unless it was sent, or its author had been
   * promised more. Forgets what is gone; returns a transaction that must not be, and how many are.
   */
  forgetLost(
    device: string,
    database: OpenDatabase,
    isStrict: boolean,
  ): { readonly fault: string | null; readonly lost: number } {
    const here = new Set([...database.changelog.readAfter(0)].flatMap(({ sequence }) => marksIn(database, sequence)));
    const shown = new Set(database.connection.rows('SELECT id FROM mark').map(([id]) => String(id)));
    const isOfDevice = (commit: { readonly device: string }): boolean => commit.device === device;
    const gone = [...(this.marksOf.get(device) ?? [])].filter(
      (mark) => !here.has(mark) && !shown.has(mark) && !this.dropped.has(mark) && !this.shared.has(mark),
    );
    const lost = new Set<string>();
    for (const mark of gone) {
      const commits = (this.commits.get(mark) ?? []).filter(isOfDevice);
      if (commits.some(({ site, sequence }) => sequence <= (this.sentUpTo.get(`${device} ${hexOf(site)}`) ?? 0)))
        return { fault: `the transaction ${mark} was sent, and is lost after a power cut`, lost: 0 };
      if (isStrict && this.acknowledged.has(mark))
        return {
          fault: `the transaction ${mark} was acknowledged under strict durability, and is lost after a power cut`,
          lost: 0,
        };
      lost.add(mark);
    }
    const head = database.changelog.head().sequence;
    const site = hexOf(database.siteId);
    const key = `${device} ${site}`;
    this.recordedUpTo.set(key, Math.min(head, this.recordedUpTo.get(key) ?? 0));
    this.inOrder = this.inOrder.filter((commit) => !(isOfDevice(commit) && lost.has(commit.mark)));
    this.unmarked = this.unmarked.filter(
      (write) => !(isOfDevice(write) && hexOf(write.site) === site && write.sequence > head),
    );
    for (const mark of lost) {
      this.marksOf.get(device)?.delete(mark);
      const left = (this.commits.get(mark) ?? []).filter((commit) => !isOfDevice(commit));
      if (left.length === 0) this.commits.delete(mark);
      else this.commits.set(mark, left);
    }
    if (!isStrict)
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

/** The marks of one changeset of a changelog. */
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
 * Of two concurrent writes the later corrected stamp wins, ties by site id. Returns a row of the ledger that says
 * otherwise. A value is known by its text; `stampOf` gives the stamp that the server logged for a transaction.
 */
export function wrongWinner(
  model: Model,
  ledger: readonly LedgerRow[],
  stampOf: (mark: string) => number | null,
): string | null {
  const markOf = new Map<string, string>();
  for (const { mark, cells } of model.inOrder)
    for (const { after } of cells) if (typeof after === 'string' && after.startsWith(mark)) markOf.set(after, mark);
  // What was restored is of whoever restored it, and later than its text says.
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

/** Of an atomic transaction nothing loses as it is admitted. Later on it may, to what others write. */
export function brokenAtomic(
  model: Model,
  losses: readonly { readonly lost: string; readonly watermark: number }[],
  watermarkOf: (mark: string) => number | null,
): string | null {
  for (const { lost, watermark } of losses) {
    const [mark = ''] = lost.split('/');
    if (model.atomic.has(mark) && watermarkOf(mark) === watermark)
      return `${lost} lost, of a transaction that was to be whole`;
  }
  return null;
}

/** The columns in which every write has a text of its own, so that it can be followed. */
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
    ...ROOM_RULES.map((rule) => [roomChild(rule), ['note']] as [string, string[]]),
  ].map(([table, columns]) => [
    tableIdOf(table as string),
    { table: table as string, columns: new Map((columns as string[]).map((name) => [columnIdOf(name), name])) },
  ]),
);

export interface Ending {
  /** Marks that the server holds: transactions that it has admitted. */
  readonly admitted: ReadonlySet<string>;
  /** Every text that a followed column of the server holds. */
  readonly visible: ReadonlySet<string>;
  /** Every text that the ledger holds as having lost. */
  readonly lost: ReadonlySet<string>;
  /**
   * What a restored server is given again comes in another order: then what a device wrote over what it had written
   * itself counts as seen.
   */
  readonly wasRestored: boolean;
}

/**
 * Every value that was admitted is there, or was overwritten by somebody who saw it, or stands in the ledger. Returns
 * one that is not. Whoever wrote over a value saw also what was overwritten before it on the same device, and what the
 * same device had rejected.
 */
export function vanishedValue(model: Model, { admitted, visible, lost, wasRestored }: Ending): string | null {
  const seenBelow = new Map<string, readonly string[]>();
  const overwritten = model.unmarked.flatMap((write) => writtenOver(model, write, wasRestored));
  const followed: { value: string; commit: Commit; name: string }[] = [];
  // A write of NULL has no text of its own: it is known by its place.
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
      // Of a transaction that was sent again after it was rejected, the last time counts.
      if (!admitted.has(commit.mark) || model.commits.get(commit.mark)?.at(-1) !== commit) continue;
      overwritten.push(...below);
      if (typeof after === 'string') followed.push({ value: after, commit, name: column });
    }
  }
  const gone = new Set<string>();
  for (let value = overwritten.pop(); value !== undefined; value = overwritten.pop()) {
    if (gone.has(value)) continue;
    gone.add(value);
    overwritten.push(...(seenBelow.get(value) ?? []));
  }
  for (const { value, commit, name } of followed) {
    if (!visible.has(value) && !lost.has(value) && !gone.has(value))
      return `${name} = ${value}, written by ${commit.device} in ${commit.mark}, has gone without a trace`;
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
