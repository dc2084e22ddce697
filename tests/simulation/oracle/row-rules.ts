import type { RowWrite } from './recorded-writes.ts';
import { NULL, type Literal, type OracleTable } from './tables.ts';

/** The author, stamp and watermark of a write. */
export interface Version {
  readonly watermark: number;
  readonly stampUs: number;
  /** Hex. */
  readonly site: string;
  /** The principals that may have sent it: one, or both a device and its copy. */
  readonly principals: ReadonlySet<string>;
  /** The first write of the transaction; none if the author is unknown. */
  readonly root?: object;
  /** Whether the author is unknown because the value was taken over from the server. */
  readonly isUnknown?: true;
}

export const SERVER_SITE: string = '0'.repeat(32);
export const NOBODY: Version = { watermark: 0, stampUs: 0, site: SERVER_SITE, principals: new Set(['']) };

export interface Cell {
  readonly value: Literal;
  readonly version: Version;
  /** For a counter, everything that was added to the value of the insert. */
  readonly added: readonly Version[];
}

export interface Update {
  readonly version: Version;
  readonly columns: readonly string[];
}

/** A row, present or deleted. */
export interface Row {
  readonly inserted: Version;
  readonly deleted: Version | null;
  /** The name of the parent with which the row was deleted; null if it was not deleted with a parent. */
  readonly waitsFor: string | null;
  /** Under `update-wins`, all updates. */
  readonly updates: readonly Update[];
  readonly cells: ReadonlyMap<string, Cell>;
  /**
   * Under `set-null`, the columns of references to deleted parents, with the watermark at which each became NULL. The
   * NULL replaces the value of the cell.
   */
  readonly nulled: ReadonlyMap<string, number>;
}

export const NOTHING_NULLED: Row['nulled'] = new Map();

export type Rule = 'lww' | 'one-insert-wins' | 'delete-wins' | 'update-wins' | 'cascade' | 'set-null';

/** An entry that the conflict log must have. */
export interface Entry {
  readonly row: string;
  /** Null for the row as a whole. */
  readonly column: string | null;
  readonly rule: Rule;
  readonly lost: Literal;
  readonly won: Literal;
  readonly lostBy: Version;
  /**
   * The writes that the entry may name. Several if docs/merge-rules.md names the winner but not which of its writes.
   */
  readonly wonBy: readonly Version[];
}

/** Thrown if docs/merge-rules.md leaves a decision open, or if it is unknown what the author had seen. */
export class Undetermined extends Error {
  readonly reason: string;

  constructor(reason: string) {
    super(reason);
    this.reason = reason;
  }
}

/** The author of a write, and what it had seen. */
export interface Author {
  readonly version: Version;
  hasSeenRow(row: string, version: Version): boolean;
  /** Whether the row that the author updates or deletes is the one inserted with this version. */
  hadRow(row: string, inserted: Version): boolean;
  hasSeenDelete(referencedRow: string, deleted: Version): boolean;
  /** Whether the author of a delete has seen the update. */
  hasSeenUpdate(write: RowWrite, update: Update): boolean;
  hasSeenCell(write: RowWrite, column: string, version: Version): boolean;
  /** Whether the write is from an older log epoch: its delete then also applies to a row that arrives later. */
  readonly isOfOlderEpoch: boolean;
}

export interface Merged {
  readonly row: Row | undefined;
  readonly entries: readonly Entry[];
  /** Whether a write of the author did not take effect. */
  readonly hasLost: boolean;
}

/** Merges a write into one row by docs/merge-rules.md. */
export function mergeWrite(stored: Row | undefined, write: RowWrite, author: Author): Merged {
  const merged =
    write.kind === 'insert'
      ? mergeInsert(stored, write, author)
      : write.kind === 'delete'
        ? mergeDelete(stored, write, author)
        : mergeUpdate(stored, write, author);
  return { ...merged, entries: withWholeGroups(write.table, merged) };
}

function mergeInsert(stored: Row | undefined, write: RowWrite, author: Author): Merged {
  const fresh = freshRow(write, author.version);
  if (stored === undefined) return { row: fresh, entries: [], hasLost: false };
  if (author.hasSeenRow(write.row, stored.inserted)) {
    // The insert replaces a row that its author knew, but the row may have writes that the author did not know.
    const entries =
      stored.deleted === null
        ? wholeRow(write, stored, fresh).filter(({ column }) => !hasSeenAll(author, write, column as string, stored))
        : [];
    return { row: fresh, entries, hasLost: false };
  }
  const incomingWins = isLater(author.version, stored.inserted);
  const [winner, loser] = incomingWins ? [fresh, stored] : [stored, fresh];
  const entries = loser.deleted === null ? wholeRow(write, loser, winner) : [];
  return { row: winner, entries, hasLost: !incomingWins && (winner.deleted !== null || entries.length > 0) };
}

function mergeDelete(stored: Row | undefined, write: RowWrite, author: Author): Merged {
  const { version } = author;
  if (stored === undefined) {
    const standing = author.isOfOlderEpoch && !write.table.updateWins;
    const tombstone: Row = { ...freshRow(write, version), deleted: version, cells: new Map() };
    return { row: standing ? tombstone : undefined, entries: [], hasLost: false };
  }
  if (!author.hadRow(write.row, stored.inserted)) return { row: stored, entries: [], hasLost: stored.deleted === null };
  if (stored.deleted !== null) return { row: stored, entries: [], hasLost: false };
  const unseen = write.table.updateWins
    ? stored.updates.filter((update) => !author.hasSeenUpdate(write, update)).map((update) => update.version)
    : [];
  if (unseen.length > 0) {
    const latest = unseen.reduce((a, b) => (isLater(b, a) ? b : a));
    const entry = entryOf(write.row, null, 'update-wins', [NULL, version], [NULL, latest]);
    return { row: stored, entries: [entry], hasLost: true };
  }
  const entries = [...stored.cells]
    .filter(([column]) => !hasSeenAll(author, write, column, stored))
    .map(([column, { value, version: lostBy }]) =>
      entryOf(write.row, column, 'delete-wins', [value, lostBy], [NULL, version]),
    );
  return { row: { ...stored, deleted: version, waitsFor: null }, entries, hasLost: false };
}

function mergeUpdate(stored: Row | undefined, write: RowWrite, author: Author): Merged {
  const { version } = author;
  const { table, row, values } = write;
  const allLost = (rule: Rule, winner: Version): Entry[] =>
    [...values].map(([column, value]) => entryOf(row, column, rule, [value, version], [NULL, winner]));
  // The tombstone is gone, so the winner is unknown.
  if (stored === undefined) return { row: undefined, entries: allLost('delete-wins', NOBODY), hasLost: true };
  if (!author.hadRow(row, stored.inserted)) {
    if (stored.deleted !== null)
      return { row: stored, entries: allLost('one-insert-wins', stored.inserted), hasLost: true };
    const entries = [...values].flatMap(([column, value]) => {
      const cell = stored.cells.get(column);
      if (!table.counters.has(column) && cell?.value === value) return [];
      return entryOf(
        row,
        column,
        'one-insert-wins',
        [value, version],
        [cell?.value ?? NULL, cell?.version ?? stored.inserted],
      );
    });
    return { row: stored, entries, hasLost: entries.length > 0 };
  }
  if (stored.deleted === null) return mergeCells(stored, write, author);
  if (!table.updateWins) return { row: stored, entries: allLost('delete-wins', stored.deleted), hasLost: true };
  const merged = mergeCells({ ...stored, deleted: null, waitsFor: null }, write, author);
  const brought = entryOf(row, null, 'update-wins', [NULL, stored.deleted], [NULL, version]);
  return { ...merged, entries: [...merged.entries, brought] };
}

function mergeCells(stored: Row, write: RowWrite, author: Author): Merged {
  const { table, row, values } = write;
  const { version } = author;
  const cells = new Map(stored.cells);
  const entries: Entry[] = [];
  let hasLost = false;
  for (const [column, value] of values) {
    const before = stored.cells.get(column);
    if (table.documents.has(column)) {
      cells.set(column, { value, version, added: [] });
    } else if (table.counters.has(column)) {
      const sum = BigInt(before?.value ?? '0') + BigInt(value);
      cells.set(column, { value: String(sum), version, added: [...(before?.added ?? []), version] });
    } else if (before === undefined || author.hasSeenCell(write, column, before.version)) {
      cells.set(column, { value, version, added: [] });
    } else if (isLater(version, before.version)) {
      cells.set(column, { value, version, added: [] });
      if (value !== before.value)
        entries.push(entryOf(row, column, 'lww', [before.value, before.version], [value, version]));
    } else if (value !== before.value) {
      hasLost = true;
      entries.push(entryOf(row, column, 'lww', [value, version], [before.value, before.version]));
    }
  }
  const updates = table.updateWins ? [...stored.updates, { version, columns: [...values.keys()] }] : stored.updates;
  return { row: { ...stored, updates, cells }, entries, hasLost };
}

/** One of two rows with the same key wins as a whole. Returns the differing cells of the other row. */
function wholeRow({ table, row }: RowWrite, loser: Row, winner: Row): Entry[] {
  return [...loser.cells].flatMap(([column, { value, version, added }]) => {
    const winning = winner.cells.get(column);
    const won = winner.deleted === null ? (winning?.value ?? NULL) : NULL;
    // Additions to one row are not in the other row, even if both rows have the same sum.
    const hasMore = table.counters.has(column) && (added.length > 0 || (winning?.added.length ?? 0) > 0);
    if (winner.deleted === null && won === value && !hasMore) return [];
    const winners = [winning?.version ?? winner.inserted, winner.inserted, winner.deleted];
    return {
      row,
      column,
      rule: 'one-insert-wins' as const,
      lost: value,
      won,
      lostBy: version,
      wonBy: winner.deleted === null ? (winners.slice(0, 1) as Version[]) : winners.filter((one) => one !== null),
    };
  });
}

/** A group that loses is in the conflict log as a whole, including the columns to which both wrote the same value. */
function withWholeGroups({ groups }: OracleTable, { row, entries }: Merged): readonly Entry[] {
  const alike = groups.flatMap((members) => {
    const recorded = entries.filter(({ column }) => column !== null && members.includes(column));
    const [first] = recorded;
    if (first === undefined) return [];
    return members
      .filter((member) => recorded.every(({ column }) => column !== member))
      .map((column): Entry => {
        const value = row?.cells.get(column)?.value ?? NULL;
        return { ...first, column, lost: value, won: value };
      });
  });
  return [...entries, ...alike];
}

function hasSeenAll(author: Author, write: RowWrite, column: string, { cells }: Row): boolean {
  const cell = cells.get(column);
  return (
    cell === undefined ||
    (author.hasSeenCell(write, column, cell.version) &&
      cell.added.every((version) => author.hasSeenCell(write, column, version)))
  );
}

export function entryOf(
  row: string,
  column: string | null,
  rule: Rule,
  [lost, lostBy]: readonly [Literal, Version],
  [won, wonBy]: readonly [Literal, Version],
): Entry {
  return { row, column, rule, lost, won, lostBy, wonBy: [wonBy] };
}

function freshRow({ values }: RowWrite, version: Version): Row {
  const cells = new Map([...values].map(([column, value]) => [column, { value, version, added: [] }]));
  return { inserted: version, deleted: null, waitsFor: null, updates: [], cells, nulled: NOTHING_NULLED };
}

/** The later corrected stamp wins; ties are decided by the larger site id. */
export function isLater(a: Version, b: Version): boolean {
  if (a.isUnknown === true || b.isUnknown === true) throw new Undetermined('a value taken over from the server');
  if (Number.isNaN(a.stampUs) || Number.isNaN(b.stampUs)) throw new Undetermined('the stamp of a rejected changeset');
  if (a.stampUs !== b.stampUs) return a.stampUs > b.stampUs;
  return a.site === b.site ? a.watermark > b.watermark : a.site > b.site;
}
