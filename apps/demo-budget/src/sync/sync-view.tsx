import type { TabRole } from '@rockpool/client';
import { useSyncStatus } from '@rockpool/client/react';
import type { ReactNode } from 'react';
import type { KnownBudget } from '../budget/known-budgets.ts';
import { useIsRemoved } from '../budget/role.ts';
import { formatMoment, locale } from '../shell/locale.ts';
import { ConflictList } from './conflict-list.tsx';
import { changes, statusWords, stuckSentence, timeAgo, timeSpan } from './status-sentence.ts';
import { HistoryCard } from './history-card.tsx';
import { StorageFacts } from './storage-facts.tsx';
import { RejectedList } from './rejected-list.tsx';
import { SyncControls } from './sync-controls.tsx';
import { useNow } from './use-now.ts';
import { WaitingList } from './waiting-list.tsx';

const roleWords: Readonly<Record<TabRole, string>> = {
  leader: 'Saves and syncs for all tabs of this budget',
  follower: 'Another tab saves and syncs for it',
  none: 'Not active: opening or outdated',
};

/** How the budget is stored and synced, in plain language. */
export function SyncView({ budget, device }: { readonly budget: KnownBudget; readonly device: string }): ReactNode {
  const status = useSyncStatus();
  const words = statusWords(status, useIsRemoved());
  const nowMs = useNow(15_000);
  const clockOffsetMs = status.clockOffsetMs ?? 0;
  return (
    <>
      <h1>Sync and storage</h1>
      <section className={`card sync-state tone-${words.tone}`} aria-label="Status">
        <h2>{words.label}</h2>
        <p>{words.detail}</p>
        {status.stuck !== null && <p>{stuckSentence(status.stuck)}</p>}
        <SyncControls budget={budget} />
      </section>
      <dl className="card facts">
        <div>
          <dt>Waiting to sync</dt>
          <dd>{status.pendingCount === 0 ? 'Nothing' : changes(status.pendingCount)}</dd>
        </div>
        {status.rejectedCount > 0 && (
          <div>
            <dt>Rejected changes</dt>
            <dd>{changes(status.rejectedCount)}, kept on this device</dd>
          </div>
        )}
        <div>
          <dt>Last contact</dt>
          <dd>
            {status.lastContactMs === null ? (
              'None since the page opened'
            ) : (
              <time title={formatMoment(status.lastContactMs)}>{timeAgo(status.lastContactMs, nowMs, locale)}</time>
            )}
          </dd>
        </div>
        {status.reason !== null && (
          <div>
            <dt>Reason</dt>
            <dd>
              {status.reason.message} <code>{status.reason.code}</code>
            </dd>
          </div>
        )}
        {status.clockWrong && (
          <div>
            <dt>Clock</dt>
            <dd>
              This device’s clock is {timeSpan(Math.abs(clockOffsetMs), locale)}{' '}
              {clockOffsetMs > 0 ? 'ahead' : 'behind'}. Changes are ordered by the server’s clock, but dates you enter
              may be wrong until you correct yours.
            </dd>
          </div>
        )}
        <div>
          <dt>This tab</dt>
          <dd>{roleWords[status.role]}</dd>
        </div>
        <StorageFacts persistence={status.persistence} />
      </dl>
      <WaitingList />
      <RejectedList />
      <HistoryCard />
      <ConflictList budget={budget} device={device} />
    </>
  );
}
