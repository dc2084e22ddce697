import type { Client } from '@rockpool/client';
import { RockpoolProvider } from '@rockpool/client/react';
import { lazy, Suspense, useEffect, type ReactNode } from 'react';
import { AccountsView } from '../accounts/accounts-view.tsx';
import type { KnownBudget } from '../budget/known-budgets.ts';
import { useIsRemoved, useMayWrite } from '../budget/role.ts';
import { CategoriesView } from '../categories/categories-view.tsx';
import { EntriesView } from '../entries/entries-view.tsx';
import { EnvelopesView } from '../envelopes/envelopes-view.tsx';
import { ExportView } from '../export/export-view.tsx';
import { ImportView } from '../import/import-view.tsx';
import { NotesView } from '../notes/notes-view.tsx';
import { UpdateOffer } from '../offline/update-offer.tsx';
import { WhoIsHere } from '../people/who-is-here.tsx';
import { isReportPage, reportPages, ReportsView } from '../reports/reports-view.tsx';
import { RulesView } from '../rules/rules-view.tsx';
import { SampleNotice } from '../sample/sample-notice.tsx';
import { SchedulesView } from '../schedules/schedules-view.tsx';
import { ShareView } from '../share/share-view.tsx';
import { useInspector } from '../how/inspector-state.ts';
import { statusHistory } from '../sync/status-history.ts';
import { ConflictBadge, SyncBadge } from '../sync/badge.tsx';
import { NothingKept } from '../sync/nothing-kept.tsx';
import { SyncView } from '../sync/sync-view.tsx';
import { Brand } from './brand.tsx';
import { FailureNotice } from './failure.tsx';
import { MainNav } from './main-nav.tsx';
import { hashOf, usePlace, type Page } from './navigation.ts';

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
  ...reportPages,
  schedules: 'Scheduled',
  notes: 'Notes',
  categories: 'Categories',
  rules: 'Payees and rules',
  sync: 'Sync and storage',
  share: 'Share',
  how: 'How this works',
};

// For developers; a household never loads them.
const HowView = lazy(() => import('../how/how-view.tsx'));
const Inspector = lazy(() => import('../how/inspector.tsx'));

export function App({ client, budget, device }: AppProps): ReactNode {
  const place = usePlace();
  const { page, accountId } = place;
  const mayWrite = useMayWrite();
  const isRemoved = useIsRemoved();
  const { isShown } = useInspector();
  useEffect(() => void statusHistory(client), [client]);
  const current =
    page === 'entries' ? 'accounts' : page === 'export' && mayWrite ? 'import' : isReportPage(page) ? 'reports' : page;
  useEffect(() => {
    document.title = `${titles[page]} · Rockpool Budget`;
  }, [page]);
  return (
    <RockpoolProvider client={client}>
      <header className="top">
        <Brand budget={budget} />
        <WhoIsHere device={device} page={titles[page]} budget={budget} />
        <ConflictBadge budget={budget} />
        <SyncBadge budget={budget} />
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
        <FailureNotice page={`${page} ${accountId}`}>
          <SampleNotice budget={budget} />
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
          {page === 'sync' && <SyncView budget={budget} device={device} />}
          {page === 'share' && <ShareView budget={budget} device={device} />}
          {page === 'how' && (
            <Suspense>
              <HowView />
            </Suspense>
          )}
        </FailureNotice>
      </main>
      {isShown && page !== 'how' && (
        <Suspense>
          <Inspector />
        </Suspense>
      )}
    </RockpoolProvider>
  );
}
