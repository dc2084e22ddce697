import { columnIdOf, keyToString, tableIdOf } from '#shared/index.ts';
import { householdSchema } from './household-schema.ts';
import { FOLLOWED_COLUMNS, type Commit, type Model } from './model.ts';

/** A conflict-log row about a whole column, with texts that identify their authors. */
export interface LedgerEntry {
  readonly id: string;
  readonly table: string;
  /** As stored in the conflict log: a JSON array of texts. */
  readonly rowKey: string;
  readonly column: string;
  readonly rule: string;
  readonly lost: string | null;
  readonly won: string | null;
  readonly lostBy: string;
  readonly wonBy: string;
  readonly lostSite: string;
  readonly wonSite: string;
  readonly watermark: number;
}

const FOLLOWED = new Set(FOLLOWED_COLUMNS.map(({ table, column }) => `${table}.${column}`));

/** The rules that docs/merge-rules.md allows per table for a lost value. */
const RULES = new Map(
  householdSchema.tables.map(({ name, merge, foreignKeys }) => {
    const rules = ['lww', 'one-insert-wins', 'delete-wins'];
    if (foreignKeys.some(({ onDelete }) => onDelete === 'cascade')) rules.push('cascade');
    if (merge.deleteRule === 'update-wins') rules.push('update-wins');
    return [name, new Set(rules)];
  }),
);

export interface LedgerRules {
  /**
   * A changeset that a restored server receives again counts as having seen no other author's values, even if its
   * author had seen some.
   */
  readonly wasRestored: boolean;
}

/**
 * Checks a conflict-log entry against docs/merge-rules.md. Reports a value that nobody wrote there, a wrong author or
 * site, a rule that the table does not have, a duplicate entry, and a loss to a writer who had seen the value.
 */
export function wrongEntry(model: Model, entries: readonly LedgerEntry[], { wasRestored }: LedgerRules): string | null {
  const written = writersByValue(model);
  // A value that is restored from the conflict log is written again by the user who restores it.
  const restored = new Set(model.unmarked.flatMap(({ cells }) => cells.map(({ after }) => after)));
  const seenBefore = new Set<string>();
  for (const entry of entries) {
    const { id, table, rowKey, column, rule, lost, won } = entry;
    if (!FOLLOWED.has(`${table}.${column}`)) continue;
    const what = `the ledger's entry ${id} (${table}.${column} of ${rowKey}, ${rule})`;
    if (RULES.get(table)?.has(rule) !== true) return `${what} has a rule that the table does not have`;
    if ((rule === 'delete-wins' || rule === 'cascade') && won !== null)
      return `${what} has a winning value, although a delete won`;
    const place = placeOf(table, rowKey, column);
    const loser = lost === null || restored.has(lost) ? null : writtenAt(written, lost, place);
    if (loser !== null) {
      if (loser.length === 0) return `${what} has a lost value that nobody wrote there: ${String(lost)}`;
      if (!isBy(model, loser, entry.lostBy, entry.lostSite))
        return `${what} names ${entry.lostBy} at ${entry.lostSite} as the author of ${String(lost)}, which ${devicesOf(loser)} wrote`;
    }
    const winner = won === null || restored.has(won) ? null : writtenAt(written, won, place);
    if (winner !== null) {
      if (winner.length === 0) return `${what} has a won value that nobody wrote there: ${String(won)}`;
      if (!isBy(model, winner, entry.wonBy, entry.wonSite))
        return `${what} names ${entry.wonBy} at ${entry.wonSite} as the author of ${String(won)}, which ${devicesOf(winner)} wrote`;
    }
    // A copy of a file continues as a new site. Changesets that both copies share count as unseen by a write on top
    // of them.
    const isShared = loser?.some(({ mark }) => model.shared.has(mark)) === true;
    // A restored value was written twice, and the winner may have seen only the first write of it.
    const isRestored = lost !== null && restored.has(lost);
    const hasSeen = winner?.some((commit) => sawBefore(commit, place, lost)) === true;
    if (rule === 'lww' && hasSeen && !wasRestored && !isShared && !isRestored)
      return `${what}: the author of ${String(won)} had seen ${String(lost)}, so nothing lost`;
    const name = `${place} ${rule} ${String(lost)} ${String(won)} ${entry.lostSite} ${entry.wonSite} ${entry.watermark}`;
    if (lost !== null && seenBefore.has(name)) return `${what} occurs twice`;
    seenBefore.add(name);
  }
  return null;
}

type Writers = ReadonlyMap<string, ReadonlyMap<string, readonly Commit[]>>;

/** The writers of each value of each cell. */
function writersByValue(model: Model): Writers {
  const writers = new Map<string, Map<string, Commit[]>>();
  for (const commit of model.inOrder) {
    for (const { row, columnId, after } of commit.cells) {
      if (typeof after !== 'string') continue;
      const places = writers.get(after) ?? new Map<string, Commit[]>();
      writers.set(after, places);
      const place = `${row}:${columnId}`;
      places.set(place, [...(places.get(place) ?? []), commit]);
    }
  }
  return writers;
}

function writtenAt(writers: Writers, value: string, place: string): readonly Commit[] {
  return writers.get(value)?.get(place) ?? [];
}

function devicesOf(commits: readonly Commit[]): string {
  return commits.map(({ device }) => device).join();
}

function isBy(model: Model, commits: readonly Commit[], principal: string, site: string): boolean {
  // A device and its copy share what both had: either may have sent it, also under its own site.
  if (commits.some(({ mark }) => model.shared.has(mark))) return true;
  // A device may continue as a new site, which the model may not have recorded yet, but never as the site of another
  // device.
  const owners = new Set(
    model.inOrder.filter((commit) => Buffer.from(commit.site).toString('hex') === site).map(({ device }) => device),
  );
  return commits.some(({ device }) => device === principal && (owners.size === 0 || owners.has(device)));
}

function sawBefore({ cells }: Commit, place: string, value: string | null): boolean {
  return (
    value !== null && cells.some(({ row, columnId, before }) => `${row}:${columnId}` === place && before === value)
  );
}

/** The name that the model gives to a cell. */
function placeOf(table: string, rowKey: string, column: string): string {
  const schema = householdSchema.tables.find(({ name }) => name === table);
  const isInteger = (schema?.primaryKey ?? []).map(
    (name) => schema?.columns.find((one) => one.name === name)?.type === 'integer',
  );
  const key = (JSON.parse(rowKey) as string[]).map((part, index) => (isInteger[index] === true ? BigInt(part) : part));
  return `${tableIdOf(table)}:${keyToString(key)}:${columnIdOf(column)}`;
}
