import { describe, expect, it } from 'vitest';
import { hashOf, placeOfHash } from './navigation.ts';

const budget = { databaseId: 'd'.repeat(32), shareKey: 'k'.repeat(43) };

describe('the address', () => {
  it('names the current page', () => {
    expect(placeOfHash(hashOf(budget, { page: 'entries', accountId: 'a 1&b' }))).toEqual({
      page: 'entries',
      accountId: 'a 1&b',
    });
    expect(placeOfHash('')).toEqual({ page: 'accounts', accountId: '' });
    expect(placeOfHash('#page=nowhere')).toEqual({ page: 'accounts', accountId: '' });
  });

  it('is the share link if no page is named', () => {
    expect(hashOf(budget)).toBe(`#budget=${budget.databaseId}&key=${budget.shareKey}`);
  });
});
