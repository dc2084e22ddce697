import type { RowWrite } from './recorded-writes.ts';
import {
  entryOf,
  mergeWrite,
  NOBODY,
  NOTHING_NULLED,
  SERVER_SITE,
  Undetermined,
  type Author,
  type Cell,
  type Entry,
  type Row,
  type Version,
} from './row-rules.ts';
import type { RowStates } from './row-states.ts';
import { keyOf, NULL, ORACLE_TABLES, tableOf, type ForeignKey, type Literal, type OracleTable } from './tables.ts';

/** The rule of docs/merge-rules.md that rejects a changeset. */
export type Problem = 'constraint-unique' | 'constraint-foreign-key' | 'constraint-check' | 'atomic-conflict';

/** What one changeset does to the rows. */
export interface Decision {
  readonly changed: ReadonlyMap<string, Row | undefined>;
  readonly entries: readonly Entry[];
  readonly withdrawn: readonly Withdrawn[];
  readonly problems: ReadonlySet<Problem>;
  /** Rows whose result follows neither from docs/merge-rules.md nor from the recorded writes. */
  readonly open: ReadonlyMap<string, OpenRow>;
}

/**
 * Entries that leave the conflict log, by rule and watermark, because the row, or the reference in this column, was
 * restored.
 */
export interface Withdrawn {
  readonly row: string;
  readonly watermark: number;
  readonly rule: 'cascade' | 'set-null';
  /** Null for every column. */
  readonly column: string | null;
}

export interface OpenRow {
  readonly reason: string;
  /** The undecided columns. Null if it is also undecided whether the row exists. */
  readonly columns: ReadonlySet<string> | null;
}

const CASCADED_FROM = [...ORACLE_TABLES.values()].flatMap((child) => child.foreignKeys.map((key) => ({ child, key })));

/** Decides one changeset by docs/merge-rules.md. Changes nothing. */
export function decide(
  states: RowStates,
  writes: readonly RowWrite[],
  author: Author,
  { isAtomic }: { readonly isAtomic: boolean },
): Decision {
  return new Deciding(states, author).decide(writes, isAtomic);
}

/** A reference to the parents of a row, and the write that created it. Null if unknown. */
interface Reference {
  readonly row: string;
  readonly cells: Row['cells'];
  readonly by: Version | null;
}

class Deciding {
  private readonly states: RowStates;
  private readonly author: Author;
  private readonly changed = new Map<string, Row | undefined>();
  private readonly entries = new Map<string, readonly Entry[]>();
  private readonly open = new Map<string, OpenRow>();
  private readonly withdrawn: Withdrawn[] = [];

  constructor(states: RowStates, author: Author) {
    this.states = states;
    this.author = author;
  }

  decide(writes: readonly RowWrite[], isAtomic: boolean): Decision {
    let hasLost = false;
    for (const write of writes) {
      const stored = this.states.get(write.row);
      const columns = write.kind === 'update' && isThere(stored) ? new Set(write.values.keys()) : null;
      this.attempt(write.row, columns, () => {
        const merged = this.merge(stored, write);
        hasLost ||= merged.hasLost;
        if (merged.row !== stored)
          this.changed.set(write.row, merged.row && stillNulled(write.table, stored, merged.row));
        this.entries.set(write.row, merged.entries);
      });
    }
    this.restoreParents(writes);
    this.cascade();
    this.returnChildren();
    this.nullReferences();
    for (const [row, after] of this.changed) {
      const before = this.states.get(row);
      if (before !== undefined && before.waitsFor !== null && before.deleted !== null && isThere(after))
        this.withdrawn.push({ row, watermark: before.deleted.watermark, rule: 'cascade', column: null });
      this.attempt(row, null, () => this.withdrawReferences(row, before, after, writes));
    }
    const entries = [...this.entries.values()].flat();
    hasLost ||= entries.some(({ lostBy }) => lostBy === this.author.version);
    const problems = this.problems();
    if (isAtomic && hasLost) problems.add('atomic-conflict');
    return { changed: this.changed, entries, withdrawn: this.withdrawn, problems, open: this.open };
  }

  /** A row that was deleted only with its parent is merged as if it still existed. */
  private merge(stored: Row | undefined, write: RowWrite): ReturnType<typeof mergeWrite> {
    if (stored === undefined || stored.waitsFor === null || stored.deleted === null)
      return mergeWrite(stored, write, this.author);
    const standing: Row = { ...stored, deleted: null, waitsFor: null };
    const merged = mergeWrite(standing, write, this.author);
    return merged.row === standing || merged.row === undefined ? mergeWrite(stored, write, this.author) : merged;
  }

  /** A write of a reference under `restore-parent` counts as an update of the parent, even if it loses. */
  private restoreParents(writes: readonly RowWrite[]): void {
    const references: Reference[] = writes.flatMap((write) => this.referencesOf(write));
    for (let next = references.pop(); next !== undefined; next = references.pop()) {
      const { row, cells, by } = next;
      for (const key of tableOf(row).foreignKeys) {
        if (key.rule !== 'restore-parent') continue;
        const parent = this.parentOf(row, { cells, nulled: NOTHING_NULLED }, key);
        const before = parent === null ? undefined : this.get(parent);
        if (parent === null || before === undefined) continue;
        this.attempt(parent, null, () => {
          if (by === null) throw new Undetermined('a child that is not decided');
          const write = writes.find((one) => one.row === parent);
          const kept = write === undefined ? this.referred(parent, before) : this.keptFromDelete(write, before, by);
          if (kept !== null) references.push({ row: parent, cells: kept.cells, by });
        });
      }
    }
  }

  private referencesOf(write: RowWrite): Reference[] {
    const { row, kind, values, table } = write;
    const keys = table.foreignKeys.filter(({ rule }) => rule === 'restore-parent');
    if (keys.length === 0) return [];
    const [before, after] = [this.states.get(row), this.get(row)];
    const cells = (after ?? before)?.cells ?? new Map<string, Cell>();
    if (kind === 'delete') {
      if (this.open.has(row)) return [{ row, cells, by: null }];
      const winner = (this.entries.get(row) ?? []).find(({ rule }) => rule === 'update-wins')?.wonBy[0];
      return winner === undefined || !isThere(after) ? [] : [{ row, cells, by: winner }];
    }
    const { version } = this.author;
    const isBack = before !== undefined && !isThere(before) && isThere(after);
    const isWritten = kind === 'insert' || keys.some(({ columns }) => columns.some((column) => values.has(column)));
    const written = new Map([
      ...cells,
      ...[...values].map(([name, value]) => [name, { value, version, added: [] }] as const),
    ]);
    return [
      ...(isBack ? [{ row, cells, by: version }] : []),
      ...(isWritten ? [{ row, cells: written, by: version }] : []),
    ];
  }

  /** A referenced parent that the changeset does not write. Returns the parent if the reference restores it. */
  private referred(parent: string, before: Row): Row | null {
    const { author } = this;
    const { inserted, deleted } = before;
    if (deleted !== null && author.hasSeenDelete(parent, deleted)) return null;
    const hadIt = author.isOfOlderEpoch ? author.hadRow(parent, inserted) : author.hasSeenDelete(parent, inserted);
    if (!hadIt) return null;
    const updates = [...before.updates, { version: author.version, columns: [] }];
    const after: Row = { ...before, deleted: null, waitsFor: null, updates };
    this.changed.set(parent, after);
    if (deleted === null) return null;
    const entry = entryOf(parent, null, 'update-wins', [NULL, deleted], [NULL, author.version]);
    this.entries.set(parent, [...(this.entries.get(parent) ?? []), entry]);
    return after;
  }

  /** A parent that the changeset deletes. Returns the parent if it is kept. */
  private keptFromDelete(write: RowWrite, { deleted }: Row, by: Version): Row | null {
    const stored = this.states.get(write.row);
    if (write.kind !== 'delete' || deleted !== this.author.version || stored === undefined) return null;
    const updates = [...stored.updates, { version: by, columns: [] }];
    const merged = mergeWrite({ ...stored, updates }, write, this.author);
    if (merged.row === undefined || !isThere(merged.row)) return null;
    this.changed.set(write.row, merged.row);
    this.entries.set(write.row, merged.entries);
    return merged.row;
  }

  private cascade(): void {
    const gone: { readonly row: string; readonly reason: Version }[] = [];
    for (const [row, after] of [...this.changed]) {
      if (isThere(this.states.get(row)) && !isThere(after)) gone.push({ row, reason: this.author.version });
    }
    for (const [row, after] of [...this.changed]) {
      if (after === undefined || !isThere(after)) continue;
      this.attempt(row, null, () => {
        const unseen = this.unseenDelete(row, after);
        if (unseen === null) return;
        this.take(row, after, unseen);
        gone.push({ row, reason: unseen.reason });
      });
    }
    for (let parent = gone.shift(); parent !== undefined; parent = gone.shift()) {
      for (const { child, key } of CASCADED_FROM) {
        if (key.rule !== 'cascade' || key.parent !== tableOf(parent.row).name) continue;
        for (const row of this.childrenOf(child, key, parent.row)) {
          const state = this.get(row);
          if (state === undefined || !isThere(state)) continue;
          this.take(row, state, { parent: parent.row, reason: parent.reason });
          gone.push({ row, reason: parent.reason });
        }
      }
    }
  }

  /** The missing parent of a row, if its author had not seen the delete. */
  private unseenDelete(row: string, state: Row): { readonly parent: string; readonly reason: Version } | null {
    for (const key of tableOf(row).foreignKeys) {
      if (key.rule !== 'cascade') continue;
      const parent = this.parentOf(row, state, key);
      if (parent === null || isThere(this.get(parent))) continue;
      if (this.open.has(parent)) throw new Undetermined('a parent that is not decided');
      const deleted = this.get(parent)?.deleted ?? null;
      if (deleted !== null && !this.author.hasSeenDelete(row, deleted)) return { parent, reason: deleted };
    }
    return null;
  }

  /** Deletes a row with its parent. Its cells are then in the conflict log as lost to the delete. */
  private take(
    row: string,
    state: Row,
    { parent, reason }: { readonly parent: string; readonly reason: Version },
  ): void {
    const before = this.states.get(row);
    const wasThere = isThere(before);
    const { version } = this.author;
    const cells =
      state.cells.size > 0
        ? [...state.cells].map(([column, { value, version: by }]) => ({ column, value, by }))
        : [{ column: null, value: NULL, by: state.inserted }];
    const lost = cells
      .filter(({ by }) => wasThere || by === version)
      .map(({ column, value, by }) => entryOf(row, column, 'cascade', [value, by], [NULL, reason]));
    const earlier = (this.entries.get(row) ?? []).filter(
      ({ rule, lostBy }) => rule !== 'update-wins' && (before === undefined || wasThere || lostBy === version),
    );
    this.entries.set(row, [...earlier, ...lost]);
    const deleted: Version = { ...version, site: SERVER_SITE };
    this.changed.set(row, { ...state, deleted, waitsFor: parent, nulled: NOTHING_NULLED });
  }

  /**
   * Restores children that were deleted with a parent that now exists again, unless the author of the parent had seen
   * their deletes.
   */
  private returnChildren(): void {
    const come = [...this.changed].filter(([row, after]) => isThere(after) && !isThere(this.states.get(row)));
    for (let next = come.shift(); next !== undefined; next = come.shift()) {
      const [parent] = next;
      for (const { child, key } of CASCADED_FROM) {
        if (key.rule !== 'cascade' || key.parent !== tableOf(parent).name) continue;
        for (const row of this.states.of(child.name)) {
          const state = this.states.get(row) as Row;
          if (this.changed.has(row) || state.deleted === null) continue;
          if (state.waitsFor !== parent && state.deleted.isUnknown !== true) continue;
          this.attempt(row, null, () => {
            // A row that was missing at the server when it was taken over may have been deleted with its parent.
            if (state.deleted?.isUnknown === true) throw new Undetermined('a deleted row that may return');
            if (this.author.hasSeenDelete(parent, state.deleted as Version)) return;
            const back: Row = { ...state, deleted: null, waitsFor: null };
            const missing = tableOf(row).foreignKeys.some((one) => {
              const other = this.parentOf(row, back, one);
              return other !== null && !isThere(this.get(other));
            });
            if (missing || this.hasUniqueRival(row, back))
              throw new Undetermined('a child that a constraint may keep deleted');
            this.changed.set(row, back);
            come.push([row, back]);
          });
        }
      }
    }
  }

  /**
   * Sets references to deleted parents to NULL, and restores them together with their parent, unless its author had
   * seen the NULL.
   */
  private nullReferences(): void {
    const changed = [...this.changed];
    for (const [row, after] of changed) {
      if (after === undefined || !isThere(after)) continue;
      for (const key of tableOf(row).foreignKeys)
        if (key.rule === 'set-null') this.attempt(row, new Set(key.columns), () => this.nullMissing(row, key));
    }
    for (const [parent, after] of changed) {
      const isDeleted = isThere(this.states.get(parent)) && !isThere(after);
      const isBack = !isThere(this.states.get(parent)) && isThere(after);
      for (const { child, key } of CASCADED_FROM) {
        if (key.rule !== 'set-null' || key.parent !== tableOf(parent).name) continue;
        for (const row of isDeleted ? this.childrenOf(child, key, parent) : [])
          this.setNull(row, key, after?.deleted ?? this.author.version);
        for (const row of isBack ? this.namesOf(child.name) : [])
          this.attempt(row, new Set(key.columns), () => this.returnReference(row, key, parent));
      }
    }
  }

  private nullMissing(row: string, key: ForeignKey): void {
    const state = this.get(row) as Row;
    const parent = this.parentOf(row, state, key);
    if (parent === null || isThere(this.get(parent))) return;
    if (this.open.has(parent)) throw new Undetermined('a parent that is not decided');
    const deleted = this.get(parent)?.deleted ?? null;
    const isWritten = key.columns.some((column) => state.cells.get(column)?.version === this.author.version);
    if (!isWritten) this.setNull(row, key, deleted ?? this.author.version);
    else if (deleted !== null && !this.author.hasSeenDelete(row, deleted)) this.setNull(row, key, deleted);
  }

  private setNull(row: string, { columns }: ForeignKey, reason: Version): void {
    const state = this.get(row) as Row;
    const { watermark } = this.author.version;
    this.changed.set(row, {
      ...state,
      nulled: new Map([...state.nulled, ...columns.map((column) => [column, watermark] as const)]),
    });
    const lost = columns.flatMap((column) => {
      const cell = state.cells.get(column);
      return cell === undefined ? [] : [entryOf(row, column, 'set-null', [cell.value, cell.version], [NULL, reason])];
    });
    this.entries.set(row, [...(this.entries.get(row) ?? []), ...lost]);
  }

  private returnReference(row: string, key: ForeignKey, parent: string): void {
    const state = this.get(row);
    if (state === undefined || !isThere(state)) return;
    // A NULL that was taken over from the server may have replaced a reference.
    if (key.columns.some((column) => state.cells.get(column)?.version.isUnknown === true))
      throw new Undetermined('a reference that may return');
    const nulledAt = state.nulled.get(key.columns[0] as string);
    const named = this.parentOf(row, { ...state, nulled: NOTHING_NULLED }, key);
    if (nulledAt === undefined || nulledAt === this.author.version.watermark || named !== parent) return;
    if (this.author.hasSeenDelete(parent, serverVersion(nulledAt))) return;
    const nulled = new Map(state.nulled);
    for (const column of key.columns) nulled.delete(column);
    this.changed.set(row, { ...state, nulled });
  }

  /** A reference that is restored, or that an author replaces without having seen the NULL, was not lost. */
  private withdrawReferences(
    row: string,
    before: Row | undefined,
    after: Row | undefined,
    writes: readonly RowWrite[],
  ): void {
    if (before === undefined || after === undefined || !isThere(after)) return;
    for (const [column, watermark] of before.nulled) {
      if (after.nulled.get(column) === watermark) continue;
      const write = writes.find((one) => one.row === row);
      const isReplaced =
        write !== undefined &&
        after.cells.get(column)?.version === this.author.version &&
        this.author.hasSeenCell(write, column, serverVersion(watermark));
      if (!isReplaced) this.withdrawn.push({ row, watermark, rule: 'set-null', column });
    }
  }

  private problems(): Set<Problem> {
    const problems = new Set<Problem>();
    for (const [row, after] of this.changed) {
      const table = tableOf(row);
      if (after !== undefined && isThere(after)) {
        if (this.hasUniqueRival(row, after)) problems.add('constraint-unique');
        if (breaksCheck(table, after)) problems.add('constraint-check');
        for (const key of table.foreignKeys) {
          const parent = this.parentOf(row, after, key);
          if (parent !== null && !isThere(this.get(parent)) && !this.open.has(parent))
            problems.add('constraint-foreign-key');
        }
        continue;
      }
      if (!isThere(this.states.get(row))) continue;
      for (const { child, key } of CASCADED_FROM)
        if (key.parent === table.name && this.childrenOf(child, key, row).some((one) => isThere(this.get(one))))
          problems.add('constraint-foreign-key');
    }
    return problems;
  }

  private hasUniqueRival(row: string, state: Row): boolean {
    const table = tableOf(row);
    return table.uniques.some((columns) => {
      const valuesOf = (name: string, { cells }: Row): string[] =>
        columns.map((column) => valueOf(table, name, cells, column));
      const mine = valuesOf(row, state);
      if (mine.includes(NULL)) return false;
      return this.namesOf(table.name).some((other) => {
        const rival = this.get(other);
        return (
          other !== row && rival !== undefined && isThere(rival) && String(valuesOf(other, rival)) === String(mine)
        );
      });
    });
  }

  /** The name of the row that a child refers to; null if a part of its key is NULL. */
  private parentOf(
    row: string,
    { cells, nulled }: Pick<Row, 'cells' | 'nulled'>,
    { columns, parent, parentColumns }: ForeignKey,
  ): string | null {
    const child = tableOf(row);
    const table = ORACLE_TABLES.get(parent) as OracleTable;
    if (String(parentColumns) !== String(table.key))
      throw new Error('the oracle supports only foreign keys to a primary key');
    const values = columns.map((column) => valueOf(child, row, cells, column));
    if (columns.some((column) => nulled.has(column))) return null;
    return values.includes(NULL) ? null : `${parent} ${values.join('\u001f')}`;
  }

  private childrenOf(child: OracleTable, key: ForeignKey, parent: string): string[] {
    return this.namesOf(child.name).filter((row) => {
      const state = this.get(row);
      return state !== undefined && isThere(state) && this.parentOf(row, state, key) === parent;
    });
  }

  private namesOf(table: string): string[] {
    const names = new Set(this.states.of(table));
    for (const row of this.changed.keys()) if (tableOf(row).name === table) names.add(row);
    return [...names];
  }

  private get(row: string): Row | undefined {
    return this.changed.has(row) ? this.changed.get(row) : this.states.get(row);
  }

  private attempt(row: string, columns: ReadonlySet<string> | null, body: () => void): void {
    try {
      body();
    } catch (thrown) {
      if (!(thrown instanceof Undetermined)) throw thrown;
      this.open.set(row, { reason: thrown.reason, columns });
    }
  }
}

/** Returns the references that stay NULL: written ones are checked again. */
function stillNulled({ foreignKeys }: OracleTable, stored: Row | undefined, row: Row): Row {
  if (stored === undefined || stored.nulled.size === 0) return { ...row, nulled: NOTHING_NULLED };
  if (row.deleted !== null) return { ...row, nulled: NOTHING_NULLED };
  const nulled = new Map(stored.nulled);
  for (const { columns } of foreignKeys)
    if (columns.some((column) => row.cells.get(column) !== stored.cells.get(column)))
      for (const column of columns) nulled.delete(column);
  return { ...row, nulled };
}

function serverVersion(watermark: number): Version {
  return { ...NOBODY, watermark };
}

export function isThere(state: Row | undefined): boolean {
  return state?.deleted === null;
}

function valueOf(table: OracleTable, row: string, cells: Row['cells'], column: string): Literal {
  const part = table.key.indexOf(column);
  return part >= 0 ? (keyOf(row)[part] as Literal) : (cells.get(column)?.value ?? NULL);
}

/** The one CHECK of the schema. */
function breaksCheck(table: OracleTable, { cells }: Row): boolean {
  return table.name === 'entry' && Number(cells.get('amount')?.value ?? 0) >= 1000;
}
