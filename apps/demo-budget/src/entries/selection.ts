import type { SqlStatement } from '@rockpool/client';
import { ledgerIds, type LedgerFilter } from '../queries/ledger.ts';

/**
 * The selected entries of a ledger: named ones, or all that match a filter except some. "All" is a condition instead of
 * a list of ids, so it applies from the click on, and an action evaluates it in its own transaction.
 */
export type Selection =
  | { readonly kind: 'some'; readonly ids: ReadonlySet<string> }
  | {
      readonly kind: 'all';
      readonly accountId: string | null;
      readonly filter: LedgerFilter;
      readonly except: ReadonlySet<string>;
    };

export const nothingSelected: Selection = { kind: 'some', ids: new Set() };

export function isSelected(selection: Selection, id: string): boolean {
  return selection.kind === 'some' ? selection.ids.has(id) : !selection.except.has(id);
}

/** Selects or deselects one entry; toggles it if `selected` is undefined. */
export function withEntry(selection: Selection, id: string, selected = !isSelected(selection, id)): Selection {
  if (selection.kind === 'some') return { kind: 'some', ids: having(selection.ids, id, selected) };
  return { ...selection, except: having(selection.except, id, !selected) };
}

/** The number of selected entries if `matchCount` entries match the filter of the ledger. */
export function selectedCount(selection: Selection, matchCount: number): number {
  return selection.kind === 'some' ? selection.ids.size : Math.max(0, matchCount - selection.except.size);
}

/** Reads the ids of the selected entries that exist. */
export function selectedIds(selection: Selection): SqlStatement {
  if (selection.kind === 'some')
    return {
      sql: 'SELECT id FROM entries WHERE id IN (SELECT value FROM json_each(?))',
      params: [JSON.stringify([...selection.ids])],
    };
  const all = ledgerIds(selection.accountId, selection.filter);
  if (selection.except.size === 0) return all;
  return {
    sql: `${all.sql} AND entry.id NOT IN (SELECT value FROM json_each(?))`,
    params: [...all.params, JSON.stringify([...selection.except])],
  };
}

/** Counts the selected entries and sums them by currency. */
export function selectedTotals(selection: Selection): SqlStatement {
  const { sql, params } = selectedIds(selection);
  return {
    sql: `SELECT accounts.currency, count(*) AS entryCount, sum(entries.amountMinor) AS totalMinor
  FROM entries JOIN accounts ON accounts.id = entries.accountId WHERE entries.id IN (${sql}) GROUP BY accounts.currency ORDER BY entryCount DESC`,
    params,
  };
}

export interface SelectedTotalsRow {
  readonly currency: string;
  readonly entryCount: number;
  readonly totalMinor: number | bigint;
}

function having(ids: ReadonlySet<string>, id: string, included: boolean): ReadonlySet<string> {
  const next = new Set(ids);
  if (included) next.add(id);
  else next.delete(id);
  return next;
}
