import { RockpoolError } from '@rockpool/shared';
import type { CopiesOfSource, CopySet, Generation } from './generations.ts';

/** The objects from which a database at one moment is restored. */
export interface RestorePlan {
  readonly generation: string;
  /** The base, then copies that follow each other. The last object may contain later copies too. */
  readonly sets: readonly CopySet[];
  readonly sizeBytes: number;
}

/**
 * Finds the objects for a moment: the newest base before it, then as few copies as possible. Null if the destination
 * knows no database at that moment. Throws `backup-damaged` if a base or a copy in between is missing.
 */
export function planRestore(copies: CopiesOfSource, atMs: number): RestorePlan | null {
  const generation = copies.generations.findLast(({ base }) => base !== null && base.timeMs <= atMs);
  const base = generation?.base ?? null;
  const deletedMs = copies.deletions.findLast((timeMs) => timeMs <= atMs) ?? -Infinity;
  requireBases(copies, generation, { afterMs: deletedMs, atMs });
  if (generation === undefined || base === null || deletedMs >= base.timeMs) return null;
  const sets = [base, ...followingSets(generation, atMs)];
  return {
    generation: generation.id,
    sets,
    sizeBytes: sets.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
  };
}

/**
 * Copies are stored only after their base. Where it is missing, an earlier generation would give an earlier state, and
 * without one the database would be left out.
 */
function requireBases(
  { generations }: CopiesOfSource,
  known: Generation | undefined,
  { afterMs, atMs }: { readonly afterMs: number; readonly atMs: number },
): void {
  const lost = generations.find(
    ({ id, base, copies }) =>
      base === null &&
      (known === undefined || id > known.id) &&
      copies.some(({ timeMs }) => timeMs > afterMs && timeMs <= atMs),
  );
  if (lost === undefined) return;
  const earlier = known === undefined ? [] : [known.base, ...known.copies].flatMap((set) => set?.timeMs ?? []);
  throw new RockpoolError('backup-damaged', {
    problem: `the base of generation ${lost.id} is missing`,
    ...(earlier.length > 0 && { restorableUntil: new Date(Math.max(...earlier)).toISOString() }),
  });
}

function followingSets({ id, copies }: Generation, atMs: number): CopySet[] {
  const byFirst = new Map<number, CopySet[]>();
  for (const set of copies) byFirst.set(set.first, [...(byFirst.get(set.first) ?? []), set]);
  const sets: CopySet[] = [];
  for (let next = 1; ;) {
    const candidates = byFirst.get(next) ?? [];
    const before = candidates
      .filter(({ timeMs }) => timeMs <= atMs)
      .reduce<CopySet | null>((best, set) => (best === null || isBetter(set, best) ? set : best), null);
    if (before === null) {
      // The last copies of a bundle may be from after the moment, and its first ones from before it.
      const around = candidates.find(({ level }) => level === 1);
      if (around !== undefined) sets.push(around);
      else requireNoLater(id, copies, next, atMs);
      return sets;
    }
    sets.push(before);
    next = before.last + 1;
  }
}

/** A copy was repeated after a kill. The later one is used, because the next copies follow it. */
function isBetter(set: CopySet, other: CopySet): boolean {
  return set.last > other.last || (set.last === other.last && set.timeMs > other.timeMs);
}

function requireNoLater(generation: string, copies: readonly CopySet[], missing: number, atMs: number): void {
  const later = copies.filter(({ first, timeMs }) => first >= missing && timeMs <= atMs);
  if (later.length === 0) return;
  const earlier = copies.filter(({ last }) => last < missing).map(({ timeMs }) => timeMs);
  throw new RockpoolError('backup-damaged', {
    problem: `copy ${missing} of generation ${generation} is missing`,
    ...(earlier.length > 0 && { restorableUntil: new Date(Math.max(...earlier)).toISOString() }),
  });
}
