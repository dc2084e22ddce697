/** An existing entry of the account, imported or typed. */
export interface KnownEntry extends Booking {
  readonly id: string;
  /** NULL for entries typed by hand. */
  readonly importKey: string | null;
}

/** The fields of an entry that are compared. */
interface Booking {
  readonly date: string;
  readonly payee: string;
  readonly amountMinor: number;
}

/** A Friday's purchase may be booked on Tuesday. */
export const likenessDays = 4;

/**
 * Finds a similar entry for each draft: the same amount, and payees with a common word. An entry typed by hand, before
 * the bank booked it, may be four days away; an imported one, from a file in a different format, must be on the same
 * day. Nearer days come first; an entry matches at most one draft, so two equal coffees stay two.
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

/** Payees match if they share a word of three letters or more, or if one of them has no such word. */
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
