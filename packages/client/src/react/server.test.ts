import { createElement, type ReactElement } from 'react';
import { renderToString } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { RockpoolProvider, useLiveQuery, useSyncStatus } from './index.ts';

function Page(): ReactElement {
  const { rows, loading } = useLiveQuery('SELECT 1');
  const made = useLiveQuery(() => {
    throw new Error('made without a client');
  }, []);
  const { state } = useSyncStatus();
  return createElement('p', null, `${loading && made.loading ? 'loading' : rows.length} ${state}`);
}

describe('hooks rendered on a server', () => {
  it('show their loading state without a client', () => {
    expect(renderToString(createElement(RockpoolProvider, { client: null }, createElement(Page)))).toBe(
      '<p>loading opening</p>',
    );
  });

  it('report a missing provider', () => {
    expect(() => renderToString(createElement(Page))).toThrow('RockpoolProvider');
  });
});
