/** An entry that the account has already, however it got there. */
export interface KnownEntry extends Booking {
  readonly id: string;
  /** NULL for entries typed by hand. */
  readonly importKey: string | null;
}

/** What of an entry is looked at. */
interface Booking {
  readonly date: string;
  readonly payee: string;
  readonly amountMinor: number;
}

/** A purchase on a Friday is booked on Tuesday. */
export const likenessDays = 4;

/**
 * For each draft an entry that is perhaps the same: the same amount, and payees that have a word in common. One that
 * was typed by hand, before the bank knew of it, may be four days away; one that was imported, from a file of another
 * format, is of the same day. Nearer days first; an entry is like one draft at most, so two equal coffees stay two.
 */
export function findAlike<Draft extends Booking>(
  drafts: readonly Draft[],
  known: readonly KnownEntry[],
): ReadonlyMap<Draft, KnownEntry> {
  const knownByAmount = Map.groupBy(known, (entry) => entry.amountMinor);
  const pairs = drafts.flatMap((draft) =>
    (knownByAmount.get(draft.amountMinor) ?? [])
      .map((entry) => ({ draft, entry, days: daysBetween(draft.date, entry.date) }))
      .filter(
        ({ entry, days }) =>
          days <= (entry.importKey === null ? likenessDays : 0) && payeesAlike(draft.payee, entry.payee),
      ),
  );
  const alike = new Map<Draft, KnownEntry>();
  const taken = new Set<string>();
  for (const { draft, entry } of pairs.sort((a, b) => a.days - b.days)) {
    if (alike.has(draft) || taken.has(entry.id)) continue;
    alike.set(draft, entry);
    taken.add(entry.id);
  }
  return alike;
}

/** Payees are alike where they share a word of three letters or more, or where one of them is not said. */
export function payeesAlike(a: string, b: string): boolean {
  const words = wordsOf(a);
  const others = wordsOf(b);
  return words.size === 0 || others.size === 0 || [...words].some((word) => others.has(word));
}

function wordsOf(payee: string): Set<string> {
  return new Set(
    payee
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]{3,}/gu),
  );
}

function daysBetween(a: string, b: string): number {
  return Math.abs(Date.parse(a) - Date.parse(b)) / 86_400_000;
}
