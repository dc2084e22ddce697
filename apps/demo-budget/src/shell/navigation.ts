import { useSyncExternalStore } from 'react';
import type { Budget } from '../budget/budget.ts';
import { readView, type View } from '../budget/view.ts';

/**
 * The current location in the app. It is part of the address after `#`, beside the budget, so that the back button,
 * bookmarks and a second tab work.
 */
export interface Place {
  readonly page: Page;
  /** The account of the pages `entries` and `import`; empty if none is chosen. */
  readonly accountId: string;
  /** The state of the budget that the page shows. */
  readonly view: View;
}

export const pages = [
  'accounts',
  'envelopes',
  'entries',
  'import',
  'export',
  'look-back',
  'deleted',
  'what-if',
  'reports',
  'cash-flow',
  'net-worth',
  'breakdown',
  'schedules',
  'notes',
  'categories',
  'rules',
  'sync',
  'share',
  'how',
] as const;

export type Page = (typeof pages)[number];

export function placeOfHash(hash: string): Place {
  const params = new URLSearchParams(hash.replace(/^#/, ''));
  const page = pages.find((candidate) => candidate === params.get('page')) ?? 'accounts';
  const view = readView(params.get('view') ?? '');
  return { page, accountId: params.get('account') ?? '', view: showsPage(view, page) ? view : 'today' };
}

/**
 * The part of the address that pages share: their links keep its view. Without a view, links lead to today's budget.
 */
export interface ViewedBudget extends Budget {
  readonly view?: View;
}

export function hashOf(budget: ViewedBudget, place: Partial<Place> = {}): string {
  const params = new URLSearchParams({ budget: budget.databaseId, key: budget.shareKey });
  const view = place.view ?? budget.view ?? 'today';
  if (view !== 'today') params.set('view', view);
  if (place.page !== undefined && place.page !== 'accounts') params.set('page', place.page);
  if (place.accountId !== undefined && place.accountId !== '') params.set('account', place.accountId);
  return `#${params.toString()}`;
}

/**
 * The pages of a what-if, which can be changed, and those of the past, which cannot. All others show today's budget.
 */
const whatIfPages: readonly Page[] = [
  'accounts',
  'envelopes',
  'entries',
  'what-if',
  'reports',
  'cash-flow',
  'net-worth',
  'breakdown',
  'schedules',
  'categories',
];
const pastPages: readonly Page[] = whatIfPages.map((page) => (page === 'what-if' ? 'look-back' : page));

export function showsPage(view: View, page: Page): boolean {
  return view === 'today' || (view === 'what-if' ? whatIfPages : pastPages).includes(page);
}

/** The location from the address, kept current. */
export function usePlace(): Place {
  const hash = useSyncExternalStore(listenToHash, () => location.hash);
  return placeOfHash(hash);
}

function listenToHash(listener: () => void): () => void {
  addEventListener('hashchange', listener);
  return () => removeEventListener('hashchange', listener);
}
