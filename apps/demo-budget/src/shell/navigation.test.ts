import { describe, expect, it } from 'vitest';
import { hashOf, placeOfHash } from './navigation.ts';

const budget = { databaseId: 'd'.repeat(32), shareKey: 'k'.repeat(43) };

describe('the address', () => {
  it('names the current page', () => {
    expect(placeOfHash(hashOf(budget, { page: 'entries', accountId: 'a 1&b' }))).toEqual({
      page: 'entries',
      accountId: 'a 1&b',
      view: 'today',
    });
    expect(placeOfHash('')).toEqual({ page: 'accounts', accountId: '', view: 'today' });
    expect(placeOfHash('#page=nowhere&view=nothing')).toEqual({ page: 'accounts', accountId: '', view: 'today' });
  });

  it('keeps the view in the links of its pages, unless a link leads to a page that the view lacks', () => {
    for (const view of ['what-if', '2025-03-01', 'version-12'] as const) {
      const viewed = { ...budget, view };
      expect(placeOfHash(hashOf(viewed, { page: 'envelopes' })).view).toBe(view);
      expect(placeOfHash(hashOf(viewed, { page: 'share' })).view).toBe('today');
      expect(placeOfHash(hashOf(viewed, { page: 'envelopes', view: 'today' })).view).toBe('today');
    }
    expect(placeOfHash('#page=envelopes&view=2025-02-30').view).toBe('today');
  });

  it('is the share link if no page is named', () => {
    expect(hashOf(budget)).toBe(`#budget=${budget.databaseId}&key=${budget.shareKey}`);
  });
});
