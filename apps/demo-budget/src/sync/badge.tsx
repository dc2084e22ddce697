import { useSyncStatus } from '@rockpool/client/react';
import type { ReactNode } from 'react';
import type { Budget } from '../budget/budget.ts';
import { locale } from '../shell/locale.ts';
import { hashOf } from '../shell/navigation.ts';
import { useIsRemoved } from '../budget/role.ts';
import { statusWords } from './status-sentence.ts';
import { useConflicts } from './use-conflicts.ts';

/** The number of open conflicts, as a link to them. Renders nothing without conflicts. */
export function ConflictBadge({ budget }: { readonly budget: Budget }): ReactNode {
  const { open } = useConflicts();
  if (open.length === 0) return null;
  return (
    <a className="badge badge-attention" href={hashOf(budget, { page: 'sync' })} data-testid="conflict-badge">
      <span className="dot" aria-hidden="true" />
      <span role="status">{open.length === 1 ? '1 conflict' : `${open.length} conflicts`}</span>
    </a>
  );
}

/** The number of rejected changes, as a link to them. Renders nothing if there are none. */
export function RejectedBadge({ budget }: { readonly budget: Budget }): ReactNode {
  const { rejectedCount } = useSyncStatus();
  if (rejectedCount === 0) return null;
  return (
    <a className="badge badge-attention" href={hashOf(budget, { page: 'sync' })} data-testid="rejected-badge">
      <span className="dot" aria-hidden="true" />
      <span role="status">{rejectedCount.toLocaleString(locale)} rejected</span>
    </a>
  );
}

/** The sync state and the number of unsent changes in two or three words, as a link to the details. */
export function SyncBadge({ budget }: { readonly budget: Budget }): ReactNode {
  const words = statusWords(useSyncStatus(), useIsRemoved());
  return (
    <a
      className={`badge badge-${words.tone}`}
      href={hashOf(budget, { page: 'sync' })}
      title={words.detail}
      data-testid="sync-badge"
    >
      <span className="dot" aria-hidden="true" />
      <span role="status" aria-label={`Sync: ${words.label}`}>
        {words.label}
      </span>
    </a>
  );
}
