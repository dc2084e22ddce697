import { useSyncExternalStore } from 'react';
import type { Budget } from '../budget/budget.ts';

/**
 * The current location in the app. It is part of the address after `#`, beside the budget, so that the back button,
 * bookmarks and a second tab work.
 */
export interface Place {
  readonly page: Page;
  /** The account of the pages `entries` and `import`; empty if none is chosen. */
  readonly accountId: string;
}

export const pages = [
  'accounts',
  'envelopes',
  'entries',
  'import',
  'export',
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
  return { page, accountId: params.get('account') ?? '' };
}

export function hashOf(budget: Budget, place: Partial<Place> = {}): string {
  const params = new URLSearchParams({ budget: budget.databaseId, key: budget.shareKey });
  if (place.page !== undefined && place.page !== 'accounts') params.set('page', place.page);
  if (place.accountId !== undefined && place.accountId !== '') params.set('account', place.accountId);
  return `#${params.toString()}`;
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
