import type { Client } from '@rockpool/client';
import { entriesForRules, type RuledEntryRow } from '../queries/rules.ts';
import { ruleMatches } from './apply.ts';
import type { Rule } from './rule.ts';

/** What a rule matches of the entries that are there. */
export interface RuleMatches {
  readonly ids: readonly string[];
  /** The newest of them. */
  readonly newest: readonly RuledEntryRow[];
}

const newestShown = 5;

/**
 * Tries a rule on every entry, by the same function that tries it on those that come: what is shown is what will
 * happen, whatever letters SQLite folds otherwise. `isWanted` is asked between some thousand entries; undefined where
 * it is no longer.
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
