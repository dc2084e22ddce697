import { useRef, type ReactNode, type RefObject } from 'react';
import type { Budget } from '../budget/budget.ts';
import { isPast, useView } from '../budget/view.ts';
import type { AccountRow } from '../queries/accounts.ts';
import { hashOf } from '../shell/navigation.ts';
import { useHeightVariable } from '../shell/use-height-variable.ts';
import { FilterBar, type FilterBarProps } from './filter-bar.tsx';
import { LedgerHead } from './ledger-head.tsx';

export interface LedgerToolsProps extends FilterBarProps {
  readonly budget: Budget;
  /** The account of the ledger; null for all accounts. */
  readonly own: AccountRow | null;
  readonly accounts: readonly AccountRow[];
  /** Whether there is anything to filter. */
  readonly hasEntries: boolean;
  readonly newEntryButton: RefObject<HTMLButtonElement | null>;
  readonly onNew: () => void;
  readonly onReconcile: () => void;
}

/** The head of a ledger, which stays in view: name, balance, actions and filter. */
export function LedgerTools(props: LedgerToolsProps): ReactNode {
  const { budget, own, accounts, hasEntries, newEntryButton, onNew, onReconcile, ...filter } = props;
  const view = useView();
  const tools = useRef<HTMLDivElement>(null);
  useHeightVariable(tools, '--ledger-tools-height');
  return (
    <div className="ledger-tools" ref={tools}>
      <LedgerHead own={own} accounts={accounts}>
        <button type="button" ref={newEntryButton} className="primary" onClick={onNew}>
          New entry
        </button>
        {own !== null && (
          <>
            <button type="button" onClick={onReconcile}>
              Reconcile
            </button>
            {view === 'today' && (
              <a className="button" href={hashOf(budget, { page: 'import', accountId: own.id })}>
                Import
              </a>
            )}
          </>
        )}
      </LedgerHead>
      {/* A past state has no search index. */}
      {hasEntries && !isPast(view) && <FilterBar {...filter} />}
    </div>
  );
}
