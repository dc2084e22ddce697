import type { SqliteFile } from '#sync-server/sqlite/sqlite-file.ts';
import { decide, isThere, type Decision, type OpenRow, type Withdrawn } from './decide.ts';
import { authorOf } from './author.ts';
import type { RecordedWrite, RecordedWrites, RowWrite } from './recorded-writes.ts';
import { NOTHING_NULLED, type Entry, type Row, type Version } from './row-rules.ts';
import { RowStates } from './row-states.ts';
import {
  entriesOf,
  hashAt,
  KeptTombstones,
  logAfter,
  marksOf,
  newRejections,
  tombstonesAfter,
  type ActualEntry,
  type LogEntry,
  type Rejection,
} from './server-facts.ts';
import {
  keyAsJson,
  keyOf,
  linesOf,
  NULL,
  ORACLE_TABLES,
  parseLine,
  rowNameOf,
  tableOf,
  toLine,
  type Literal,
  type TableTexts,
} from './tables.ts';

export interface OracleOptions {
  readonly writes: RecordedWrites;
  /** The transaction that a changeset repeats because its device wrote it again under a different sequence. */
  readonly repeats: (site: string, sequence: number) => RecordedWrite | undefined;
  readonly onFault: (fault: string) => void;
  /** A changeset of a site (hex) took effect. */
  readonly onAdmitted: (write: RecordedWrite, site: string) => void;
  readonly count: (what: string, times?: number) => void;
}

interface Batch {
  readonly watermark: number;
  readonly hash: string;
  readonly undo: () => void;
  /** The ids in the conflict log after the batch. */
  readonly entries: ReadonlySet<string>;
  /** The changesets that were rejected in the batch. */
  readonly rejected: readonly string[];
  /** The first writes of the transactions that took effect in the batch. */
  readonly effective: readonly object[];
}

/** What the oracle has found so far in a batch of commits. */
interface Findings {
  /** The first writes of the transactions that took effect. */
  readonly effective: object[];
  readonly entries: (Entry & { readonly watermark: number })[];
  readonly withdrawn: Withdrawn[];
  readonly open: Map<string, OpenRow>;
  /** True once the batch has an unknown changeset, whose effects are taken over from the server. */
  isBlind: boolean;
}

/**
 * Judges the server by a second implementation of docs/merge-rules.md. Its input is what the pages wrote, what their
 * devices had seen by then (recorded-writes.ts), and the order in which the server took the changesets. Reads neither
 * the changelog of a device nor the versions of the server; stamp-check.ts verifies the stamps in the log.
 *
 * After each commit, every row of every table must be as the rules say, the conflict log must have the entries that
 * they say and no other, and every rejected changeset must break the rule that the rejection names. If a row follows
 * neither from the rules nor from the recorded writes, it is taken over from the server and counted.
 */
export class Oracle {
  private readonly options: OracleOptions;
  private readonly states = new RowStates();
  private readonly history: Batch[] = [];
  /** The ids in the conflict log. */
  private entries: ReadonlySet<string> = new Set();
  /** The rejected changesets up to the last judged commit. */
  private readonly rejected = new Set<string>();
  /** The watermarks of transactions that have taken effect, by their first write. */
  private readonly effective = new Map<object, number>();
  /** The rows of the server at the last comparison. */
  private compared: TableTexts = new Map();

  /** The log epoch of the last judged commit. */
  private epoch = '';
  private openEpoch = '';
  private startedAt = 0;
  /** Whether the log epoch began with this batch, or within it. */
  private isChanging = false;

  constructor(options: OracleOptions) {
    this.options = options;
  }

  /** Called after each commit of the server, with its rows. */
  onCommit(
    sql: SqliteFile,
    { id: epoch, startedAt }: { readonly id: string; readonly startedAt: number },
    texts: TableTexts,
  ): void {
    this.startedAt = startedAt;
    const from = this.rewind(sql);
    const log = logAfter(sql, from);
    const last = log.at(-1);
    if (last === undefined) return;
    const rejected = newRejections(sql, this.rejected);
    for (const one of rejected) this.rejected.add(nameOfChangeset(one));
    const unexplained = new Map(rejected.map((one) => [nameOfChangeset(one), one]));
    const findings: Findings = { effective: [], entries: [], withdrawn: [], open: new Map(), isBlind: false };
    // A changeset may have been admitted before the log epoch began.
    this.isChanging = epoch !== this.epoch && this.epoch !== '';
    this.noteEpoch(epoch);
    this.epoch = epoch;
    this.explain(unexplained, from, epoch);
    for (const entry of log) {
      this.judge(entry, epoch, texts, findings);
      this.explain(unexplained, entry.watermark, epoch);
    }
    for (const { site, sequence, code } of findings.isBlind || findings.open.size > 0 ? [] : unexplained.values())
      this.options.onFault(`changeset ${sequence} of ${site} was rejected with ${code}, but does not break that rule`);
    this.compareRows(texts, last.watermark, findings);
    this.adoptTombstones(sql, from, last.watermark, findings);
    this.compareEntries(sql, from, findings);
    this.forgetPruned(sql);
    this.history.push({
      watermark: last.watermark,
      hash: last.hash,
      undo: this.states.takeUndo(),
      entries: this.entries,
      rejected: rejected.map(nameOfChangeset),
      effective: findings.effective,
    });
  }

  /** Called when the server has opened its log. A log epoch may end without a commit. */
  noteEpoch(epoch: string): void {
    if (epoch !== this.openEpoch) this.options.writes.epochsBegun++;
    this.openEpoch = epoch;
  }

  /**
   * Goes back to the last watermark where the log is the same, because the server may have lost its end. Returns that
   * watermark.
   */
  private rewind(sql: SqliteFile): number {
    for (let last = this.history.at(-1); last !== undefined; last = this.history.at(-1)) {
      if (hashAt(sql, last.watermark) === last.hash) return last.watermark;
      last.undo();
      this.history.pop();
      for (const name of last.rejected) this.rejected.delete(name);
      for (const root of last.effective) this.effective.delete(root);
      this.entries = this.history.at(-1)?.entries ?? new Set();
    }
    return 0;
  }

  private judge(entry: LogEntry, epoch: string, texts: TableTexts, findings: Findings): void {
    const { count, onFault } = this.options;
    const write = this.writeOf(entry.site, entry.sequence, texts);
    if (write === undefined || this.mayRepeatUnknown(write)) {
      count('oracle: changeset that is not known');
      findings.isBlind = true;
      return;
    }
    count('oracle: changeset judged');
    if (this.effective.has(write.root)) return count('oracle: repetition');
    this.effective.set(write.root, entry.watermark);
    findings.effective.push(write.root);
    this.options.onAdmitted(write, entry.site);
    const decision = this.decide(write, entry, epoch);
    const mayBeOpen = findings.isBlind || findings.open.size > 0 || decision.open.size > 0;
    for (const problem of mayBeOpen ? [] : decision.problems)
      onFault(`changeset ${entry.sequence} of ${write.device} (${write.mark}) was admitted, and breaks ${problem}`);
    for (const [row, state] of decision.changed) this.states.set(row, state);
    for (const [row, open] of decision.open) this.leaveOpen(findings, row, open);
    count('oracle: reference set to NULL', decision.entries.filter(({ rule }) => rule === 'set-null').length);
    count('oracle: reference returned', decision.withdrawn.filter(({ rule }) => rule === 'set-null').length);
    findings.withdrawn.push(...decision.withdrawn);
    findings.entries.push(...decision.entries.map((one) => ({ ...one, watermark: entry.watermark })));
  }

  /**
   * Whether an unknown changeset may already have inserted the mark of a write, under another sequence of the device or
   * its copy.
   */
  private mayRepeatUnknown({ rows, root }: RecordedWrite): boolean {
    const mark = rows.find(({ table, kind }) => table.name === 'mark' && kind === 'insert');
    return mark !== undefined && !this.effective.has(root) && this.states.get(mark.row)?.inserted.isUnknown === true;
  }

  private decide(
    write: RecordedWrite,
    { watermark, site, stampUs }: Pick<LogEntry, 'watermark' | 'site' | 'stampUs'>,
    epoch: string,
  ): Decision {
    const version: Version = { watermark, stampUs, site, principals: write.holders, root: write.root };
    return decide(
      this.states,
      write.rows,
      authorOf(write, version, {
        epoch,
        startedAt: this.startedAt,
        hadSite: (earlier, first) => this.options.writes.hadSite(site, earlier, first),
        epochsBegun: this.isChanging ? null : this.options.writes.epochsBegun,
      }),
      write,
    );
  }

  /** Leaves a row undecided. If it may be gone, the rows that refer to it are undecided too. */
  private leaveOpen({ open }: Findings, row: string, { reason, columns }: OpenRow): void {
    this.options.count(`oracle: open row (${reason})`);
    const known = open.get(row);
    const both = columns === null || known?.columns === null ? null : new Set([...columns, ...(known?.columns ?? [])]);
    open.set(row, { reason, columns: both });
    if (columns !== null) return;
    const { name } = tableOf(row);
    for (const { name: child, foreignKeys } of ORACLE_TABLES.values())
      for (const key of foreignKeys) {
        if (key.parent !== name || (key.rule !== 'cascade' && key.rule !== 'set-null')) continue;
        const opened = key.rule === 'cascade' ? columns : new Set(key.columns);
        for (const one of this.states.of(child)) if (!open.has(one)) open.set(one, { reason, columns: opened });
      }
  }

  private writeOf(site: string, sequence: number, texts: TableTexts): RecordedWrite | undefined {
    const known = this.options.writes.of(site, sequence);
    if (known.length === 1) return known[0];
    if (known.length === 0) return this.options.repeats(site, sequence);
    // A device and its copy have different transactions under one number.
    const marks = marksOf(texts);
    const [only, ...others] = known.filter(
      ({ mark, root }) => !this.effective.has(root) && (mark === null || marks.has(mark)),
    );
    return others.length === 0 ? only : undefined;
  }

  /** Removes from `unexplained` each rejection that may be right if the changeset is decided after this watermark. */
  private explain(unexplained: Map<string, Rejection>, watermark: number, epoch: string): void {
    for (const [name, { site, sequence, code }] of unexplained) {
      const writes = this.options.writes.of(site, sequence);
      const repeated = writes.length > 0 ? undefined : this.options.repeats(site, sequence);
      const candidates = repeated === undefined ? writes : [repeated];
      const isExplained =
        code === 'document-gap' ||
        candidates.length === 0 ||
        (code === 'atomic-conflict' &&
          candidates.some(({ rows }) => rows.some(({ table }) => table.documents.size > 0))) ||
        candidates.some((write) => {
          const { problems, open } = this.decide(write, { watermark: watermark + 1, site, stampUs: Number.NaN }, epoch);
          if (!problems.has(code as never) && open.size > 0) this.options.count('oracle: open rejection');
          return problems.has(code as never) || open.size > 0;
        });
      if (!isExplained) continue;
      const isOpen =
        candidates.length === 0 || (code === 'document-gap' && !this.dependsOnRejected(site, sequence, candidates));
      this.options.count(isOpen ? 'oracle: rejection not judged' : 'oracle: rejection judged');
      unexplained.delete(name);
    }
  }

  /** Whether an earlier changeset of the site that changes the same document was rejected. */
  private dependsOnRejected(site: string, sequence: number, candidates: readonly RecordedWrite[]): boolean {
    const edited = new Set(candidates.flatMap(({ rows }) => rows.map(documentOf)));
    edited.delete(null);
    return [...this.rejected].some((name) => {
      const [from, before] = name.split(' ') as [string, string];
      if (from !== site || Number(before) >= sequence) return false;
      const writes = this.options.writes.of(site, Number(before));
      const repeated = writes.length > 0 ? undefined : this.options.repeats(site, Number(before));
      return [...writes, ...(repeated === undefined ? [] : [repeated])].some(({ rows }) =>
        rows.some((row) => edited.has(documentOf(row))),
      );
    });
  }

  private compareRows(texts: TableTexts, watermark: number, findings: Findings): void {
    const touched = this.states.takeTouched();
    const isOpen = findings.isBlind || findings.open.size > 0;
    for (const table of ORACLE_TABLES.values()) {
      const text = texts.get(table.name) ?? '';
      // Neither the rows nor what the oracle expects of them have changed since they were equal.
      if (!isOpen && !touched.has(table.name) && this.compared.get(table.name) === text) continue;
      const found = new Map<string, string>();
      for (const line of linesOf(text)) found.set(rowNameOf(table, parseLine(table, line).key), line);
      for (const row of new Set([...found.keys(), ...this.states.of(table.name)])) {
        const line = found.get(row);
        const state = this.states.get(row);
        if (line !== undefined && state !== undefined && isThere(state)) this.takeDocuments(row, state, line);
        const now = this.states.get(row);
        const expected = now === undefined || !isThere(now) ? undefined : lineOf(row, now);
        const open = findings.open.get(row);
        // An unknown changeset may have changed the other columns.
        if (open !== undefined) this.adopt(row, line, watermark, findings.isBlind ? null : open.columns);
        else if (expected === line) continue;
        else if (findings.isBlind) {
          this.options.count('oracle: row taken over');
          findings.open.set(row, { reason: 'a changeset that is not known', columns: null });
          this.adopt(row, line, watermark, null);
        } else
          this.options.onFault(
            `the server at ${watermark} has ${shown(line)} in ${table.name}; by the rules it is ${shown(expected)}`,
          );
      }
    }
    this.compared = texts;
    // What was taken over above equals the rows.
    this.states.takeTouched();
  }

  /** Takes over documents without judging them: page-items.ts judges their content. */
  private takeDocuments(row: string, state: Row, line: string): void {
    const table = tableOf(row);
    if (table.documents.size === 0) return;
    const { values } = parseLine(table, line);
    const cells = new Map(state.cells);
    for (const column of table.documents) {
      const cell = cells.get(column);
      if (cell !== undefined) cells.set(column, { ...cell, value: values.get(column) as Literal });
    }
    this.states.set(row, { ...state, cells });
  }

  private adopt(row: string, line: string | undefined, watermark: number, columns: ReadonlySet<string> | null): void {
    const version: Version = { watermark, stampUs: Number.NaN, site: '?', principals: new Set(), isUnknown: true };
    const before = this.states.get(row);
    if (line === undefined) {
      const kept = before ?? { updates: [], cells: new Map() };
      this.states.set(row, { ...kept, inserted: version, deleted: version, waitsFor: null, nulled: NOTHING_NULLED });
      return;
    }
    const { values } = parseLine(tableOf(row), line);
    if (columns !== null && before !== undefined && isThere(before)) {
      const cells = new Map(before.cells);
      const nulled = new Map(before.nulled);
      for (const column of columns) {
        nulled.delete(column);
        cells.set(column, { value: values.get(column) as Literal, version, added: [] });
      }
      if (lineOf(row, { ...before, cells, nulled }) !== line)
        this.options.onFault(`the server at ${watermark} has ${shown(line)}, with a change of more than is open`);
      this.states.set(row, {
        ...before,
        updates: [...before.updates, { version, columns: [...columns] }],
        cells,
        nulled,
      });
      return;
    }
    const cells = new Map([...values].map(([column, value]) => [column, { value, version, added: [] }]));
    this.states.set(row, {
      inserted: version,
      deleted: null,
      waitsFor: null,
      updates: [{ version, columns: [...cells.keys()] }],
      cells,
      nulled: NOTHING_NULLED,
    });
  }

  /** An undecided change may have deleted a row that was already deleted, or never seen. */
  private adoptTombstones(sql: SqliteFile, from: number, watermark: number, { isBlind, open }: Findings): void {
    if (!isBlind && open.size === 0) return;
    for (const row of tombstonesAfter(sql, from))
      if ((isBlind || open.has(row)) && !isThere(this.states.get(row))) this.adopt(row, undefined, watermark, null);
  }

  private compareEntries(sql: SqliteFile, from: number, findings: Findings): void {
    const { onFault, count } = this.options;
    const { open, isBlind, withdrawn } = findings;
    const openRows = new Set([...open.keys()].map((row) => `${tableOf(row).name} ${keyAsJson(keyOf(row))}`));
    const actual = entriesOf(sql);
    const expected = [...findings.entries];
    for (const entry of actual) {
      if (this.entries.has(entry.id)) continue;
      if (entry.watermark <= from) onFault(`the conflict log has the new entry ${entry.id} of an old commit`);
      if (isBlind || openRows.has(`${entry.table} ${entry.rowKey}`)) count('oracle: entry not judged');
      else if (entry.path !== null || ORACLE_TABLES.get(entry.table)?.documents.has(entry.column ?? '') === true)
        count('oracle: entry about a document');
      else {
        const index = expected.findIndex((one) => matches(entry, one));
        if (index < 0)
          onFault(
            `the conflict log has an entry that the rules do not produce: ${shownEntry(entry)}; open ones are ${JSON.stringify(expected.filter((one) => keyAsJson(keyOf(one.row)) === entry.rowKey).map(shownExpected))}`,
          );
        else expected.splice(index, 1);
        count('oracle: entry judged');
      }
    }
    for (const entry of isBlind ? [] : expected) {
      const { row, column } = entry;
      if (open.has(row) || (column !== null && tableOf(row).documents.has(column))) continue;
      // The entry was withdrawn because the row or reference was restored in the same batch.
      const { rule, watermark } = entry;
      if (withdrawn.some((one) => one.row === row && one.watermark === watermark && isOf(one, rule, column))) continue;
      onFault(`the conflict log lacks an entry: ${JSON.stringify(shownExpected(entry))}`);
    }
    const ids = new Set(actual.map(({ id }) => id));
    const isWithdrawn = ({ table, rowKey, rule, column, watermark }: ActualEntry): boolean =>
      withdrawn.some(
        (one) =>
          one.watermark === watermark &&
          isOf(one, rule, column) &&
          `${tableOf(one.row).name} ${keyAsJson(keyOf(one.row))}` === `${table} ${rowKey}`,
      );
    for (const entry of actual) {
      if (!isWithdrawn(entry)) continue;
      // An undecided row may still be deleted.
      if (isBlind || openRows.has(`${entry.table} ${entry.rowKey}`)) count('oracle: entry not judged');
      else onFault(`the conflict log still has ${entry.id}, of a row or reference that is back`);
    }
    const gone = [...this.entries].filter((id) => !ids.has(id)).length;
    if (gone > 0 && withdrawn.length === 0 && open.size === 0 && !isBlind)
      onFault(`${gone} entries of the conflict log are gone, and no row or reference is back`);
    this.entries = ids;
  }

  /** Forgets deleted rows that the server has forgotten. */
  private forgetPruned(sql: SqliteFile): void {
    const tombstones = new KeptTombstones(sql);
    for (const [row, state] of this.states.all())
      if (!isThere(state) && !tombstones.has(row)) this.states.set(row, undefined);
  }
}

/** The row whose document this write inserts or edits. Null if it does neither. */
function documentOf({ table, row, values }: RowWrite): string | null {
  return [...table.documents].some((column) => values.has(column)) ? row : null;
}

function nameOfChangeset({ site, sequence }: Rejection): string {
  return `${site} ${sequence}`;
}

function isOf(withdrawn: Withdrawn, rule: string, column: string | null): boolean {
  return withdrawn.rule === rule && (withdrawn.column === null || withdrawn.column === column);
}

function lineOf(row: string, { cells, nulled }: Row): string {
  const shownValues = [...cells].map(([column, { value }]) => [column, nulled.has(column) ? NULL : value] as const);
  return toLine(tableOf(row), keyOf(row), new Map(shownValues));
}

function matches(
  actual: ActualEntry,
  { row, column, rule, lost, won, lostBy, wonBy, watermark }: Entry & { readonly watermark: number },
): boolean {
  const isBy = ({ site, stampUs, principals, isUnknown }: Version, by: string, bySite: string, atMs: number): boolean =>
    isUnknown === true || (site === bySite && Math.floor(stampUs / 1000) === atMs && principals.has(by));
  return (
    actual.table === tableOf(row).name &&
    actual.rowKey === keyAsJson(keyOf(row)) &&
    actual.column === column &&
    actual.rule === rule &&
    actual.lost === lost &&
    actual.won === won &&
    actual.watermark === watermark &&
    isBy(lostBy, actual.lostBy, actual.lostSite, actual.lostAtMs) &&
    wonBy.some((winner) => isBy(winner, actual.wonBy, actual.wonSite, actual.wonAtMs))
  );
}

function shown(line: string | undefined): string {
  return line === undefined ? 'no such row' : line.replaceAll('\u001f', ', ');
}

function shownEntry(entry: ActualEntry): string {
  return JSON.stringify(entry);
}

function shownExpected({
  row,
  column,
  rule,
  lost,
  won,
  lostBy,
  wonBy,
  watermark,
}: Entry & { readonly watermark: number }): object {
  const by = ({ site, stampUs, principals }: Version): string => `${[...principals].join('/')} ${site} ${stampUs}`;
  return {
    row: row.replaceAll('\u001f', ', '),
    column,
    rule,
    lost: lost === NULL ? null : lost,
    won: won === NULL ? null : won,
    lostBy: by(lostBy),
    wonBy: wonBy.map(by),
    watermark,
  };
}
