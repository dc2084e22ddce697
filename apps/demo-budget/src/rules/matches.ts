import type { Client } from '@rockpool/client';
import { entriesForRules, type RuledEntryRow } from '../queries/rules.ts';
import { ruleMatches } from './apply.ts';
import type { Rule } from './rule.ts';

/** The existing entries that a rule matches. */
export interface RuleMatches {
  readonly ids: readonly string[];
  /** The newest matches. */
  readonly newest: readonly RuledEntryRow[];
}

const newestShown = 5;

/**
 * Finds a rule's matches with the same function that applies rules to new entries, so that the preview is exact even
 * though SQLite folds case differently. Calls `isWanted` between batches of some thousand entries, and resolves to
 * undefined once it returns false.
 */
export async function findMatches(
  reader: Pick<Client, 'stream'>,
  rule: Pick<Rule, 'needs' | 'conditions'>,
  isWanted: () => boolean,
): Promise<RuleMatches | undefined> {
  const ids: string[] = [];
  const newest: RuledEntryRow[] = [];
  for await (const entries of reader.stream<RuledEntryRow>(entriesForRules)) {
    if (!isWanted()) return undefined;
    for (const entry of entries) {
      if (!ruleMatches(rule, entry)) continue;
      ids.push(entry.id);
      if (newest.length < newestShown) newest.push(entry);
    }
  }
  return { ids, newest };
}
