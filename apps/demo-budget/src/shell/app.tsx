import type { Client } from '@rockpool/client';
import { RockpoolProvider } from '@rockpool/client/react';
import { lazy, Suspense, useEffect, useMemo, type ReactNode } from 'react';
import { AccountsView } from '../accounts/accounts-view.tsx';
import type { KnownBudget } from '../budget/known-budgets.ts';
import { useIsRemoved, useMayWrite, useOpenBudget } from '../budget/role.ts';
import { CategoriesView } from '../categories/categories-view.tsx';
import { EntriesView } from '../entries/entries-view.tsx';
import { EnvelopesView } from '../envelopes/envelopes-view.tsx';
import { ExportView } from '../export/export-view.tsx';
import { ImportView } from '../import/import-view.tsx';
import { NotesView } from '../notes/notes-view.tsx';
import { UpdateOffer } from '../offline/update-offer.tsx';
import { WhoIsHere } from '../people/who-is-here.tsx';
import { WhoProvider } from '../people/who.ts';
import { isReportPage, reportPages, ReportsView } from '../reports/reports-view.tsx';
import { RulesView } from '../rules/rules-view.tsx';
import { SampleNotice } from '../sample/sample-notice.tsx';
import { SchedulesView } from '../schedules/schedules-view.tsx';
import { ShareView } from '../share/share-view.tsx';
import { useInspector } from '../how/inspector-state.ts';
import { statusHistory } from '../sync/status-history.ts';
import { ConflictBadge, RejectedBadge, SyncBadge } from '../sync/badge.tsx';
import { NothingKept } from '../sync/nothing-kept.tsx';
import { SyncView } from '../sync/sync-view.tsx';
import { Brand } from './brand.tsx';
import { FailureNotice } from './failure.tsx';
import { MainNav } from './main-nav.tsx';
import { hashOf, usePlace, type Page } from './navigation.ts';
import { PageBoundary } from './page-boundary.tsx';

export interface AppProps {
  readonly client: Client;
  readonly budget: KnownBudget;
  /** The principal that authors this device's changes; see budget/device.ts. */
  readonly device: string;
}

const titles: Readonly<Record<Page, string>> = {
  accounts: 'Accounts',
  envelopes: 'Budget',
  entries: 'Entries',
  import: 'Import',
  export: 'Export',
  'look-back': 'Look back',
  deleted: 'Deleted entries',
  'what-if': 'What if',
  ...reportPages,
  schedules: 'Scheduled',
  notes: 'Notes',
  categories: 'Categories',
  rules: 'Payees and rules',
  sync: 'Sync and storage',
  share: 'Share',
  how: 'How this works',
};

// Only for developers; a household never loads them.
const HowView = lazy(() => import('../how/how-view.tsx'));
const DeletedEntriesView = lazy(() => import('../history/deleted-entries-view.tsx'));
const Inspector = lazy(() => import('../how/inspector.tsx'));

// Loaded when a user looks back or tries a plan.
const LookBackView = lazy(() => import('../past/look-back-view.tsx'));
const PastFrame = lazy(() => import('../past/past-frame.tsx'));
const WhatIfFrame = lazy(() => import('../what-if/what-if-frame.tsx'));
const WhatIfView = lazy(() => import('../what-if/what-if-view.tsx'));

export function App({ client, budget: opened, device: ownName }: AppProps): ReactNode {
  // The server may say later that the key is a member's.
  const known = useOpenBudget() ?? opened;
  const device = known.membership?.principal ?? ownName;
  const place = usePlace();
  const { page, accountId, view } = place;
  const mayWrite = useMayWrite();
  const isRemoved = useIsRemoved();
  const who = useMemo(() => ({ budget: known, device }), [device, known]);
  // Links on the pages and in the menu keep the view; links in the top bar lead to today's budget.
  const budget = useMemo(() => ({ ...known, view }), [known, view]);
  const { isShown } = useInspector();
  useEffect(() => void statusHistory(client), [client]);
  const current =
    page === 'entries' ? 'accounts' : page === 'export' && mayWrite ? 'import' : isReportPage(page) ? 'reports' : page;
  useEffect(() => {
    document.title = `${titles[page]} · Rockpool Budget`;
  }, [page]);
  const inView = (content: ReactNode): ReactNode => {
    if (view === 'today') return content;
    return (
      <Suspense>
        {view === 'what-if' ? (
          <WhatIfFrame budget={known}>{content}</WhatIfFrame>
        ) : (
          <PastFrame key={view} budget={known} view={view}>
            {content}
          </PastFrame>
        )}
      </Suspense>
    );
  };
  return (
    <RockpoolProvider client={client}>
      <WhoProvider value={who}>
        <header className="top">
          <Brand budget={known} />
          <WhoIsHere device={device} page={view === 'today' ? titles[page] : ''} budget={known} />
          <RejectedBadge budget={known} />
          <ConflictBadge budget={known} />
          <SyncBadge budget={known} />
        </header>
        <MainNav budget={budget} place={place} current={current} />
        <main>
          <UpdateOffer />
          <NothingKept />
          {isRemoved ? (
            <p className="looking-only">
              You were removed from this budget. It no longer syncs. You can still view and{' '}
              <a href={hashOf(budget, { page: 'export' })}>export</a> what is on this device.
            </p>
          ) : (
            !mayWrite && <p className="looking-only">You can view this budget. To make changes, ask an owner.</p>
          )}
          <PageBoundary page={`${view} ${page} ${accountId}`}>
            {inView(
              <FailureNotice page={`${page} ${accountId}`}>
                <SampleNotice budget={known} />
                {page === 'accounts' && <AccountsView budget={budget} />}
                {page === 'envelopes' && <EnvelopesView budget={budget} />}
                {page === 'entries' && <EntriesView budget={budget} accountId={accountId} />}
                {page === 'import' && <ImportView budget={budget} accountId={accountId} />}
                {page === 'export' && <ExportView />}
                {isReportPage(page) && <ReportsView budget={budget} page={page} />}
                {page === 'schedules' && <SchedulesView budget={budget} />}
                {page === 'notes' && <NotesView />}
                {page === 'categories' && <CategoriesView />}
                {page === 'rules' && <RulesView />}
                {page === 'look-back' && (
                  <Suspense>
                    <LookBackView budget={budget} />
                  </Suspense>
                )}
                {page === 'what-if' && (
                  <Suspense>
                    <WhatIfView budget={budget} />
                  </Suspense>
                )}
                {page === 'deleted' && (
                  <Suspense>
                    <DeletedEntriesView budget={budget} />
                  </Suspense>
                )}
                {page === 'sync' && <SyncView budget={known} device={device} />}
                {page === 'share' && <ShareView budget={known} device={device} />}
                {page === 'how' && (
                  <Suspense>
                    <HowView />
                  </Suspense>
                )}
              </FailureNotice>,
            )}
          </PageBoundary>
        </main>
        {isShown && page !== 'how' && (
          <Suspense>
            <Inspector />
          </Suspense>
        )}
      </WhoProvider>
    </RockpoolProvider>
  );
}
