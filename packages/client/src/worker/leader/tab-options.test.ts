import { expect, it } from 'vitest';
import { optionsProblem, type TabOptions } from './tab-options.ts';

const SYNC = { url: 'wss://example.org/sync', databaseId: 'team', principal: 'ann' };
const MINE: TabOptions = { sync: SYNC, durability: 'relaxed' };
const with_ = (sync: Partial<typeof SYNC> | { readonly principal: null }): TabOptions => ({
  ...MINE,
  sync: { ...SYNC, ...sync },
});

it.each<[string, TabOptions, object | null]>([
  ['the same options', { ...MINE }, null],
  ['another query in its URL', with_({ url: 'wss://example.org/sync/?trace=7' }), null],
  [
    'another database',
    with_({ databaseId: 'team2' }),
    { code: 'database-mismatch', fields: { asked: 'team', belongsTo: 'team2' } },
  ],
  [
    'another database of another server, as another person',
    with_({ databaseId: 'team2', url: 'wss://example.com/sync', principal: 'bob' }),
    { code: 'database-mismatch' },
  ],
  [
    'another host',
    with_({ url: 'wss://example.com/sync' }),
    { code: 'tab-options-differ', fields: { option: 'sync.url' } },
  ],
  [
    'another path',
    with_({ url: 'wss://example.org/other' }),
    { code: 'tab-options-differ', fields: { option: 'sync.url' } },
  ],
  [
    'no encryption',
    with_({ url: 'ws://example.org/sync' }),
    { code: 'tab-options-differ', fields: { option: 'sync.url' } },
  ],
  ['another person', with_({ principal: 'bob' }), { code: 'other-principal' }],
  [
    'nobody signed in',
    with_({ principal: null }),
    { code: 'tab-options-differ', fields: { option: 'sync.principal' } },
  ],
  ['no sync', { ...MINE, sync: null }, { code: 'tab-options-differ', fields: { option: 'sync' } }],
  [
    'another durability',
    { ...MINE, durability: 'strict' },
    { code: 'tab-options-differ', fields: { option: 'durability' } },
  ],
])('the options of a tab are compared with those of a leader with %s', (_, leaders, problem) => {
  const found = optionsProblem(MINE, leaders);
  if (problem === null) expect(found).toBeNull();
  else expect(found).toMatchObject(problem);
});

it('tabs without sync agree on their options', () => {
  expect(optionsProblem({ sync: null, durability: 'strict' }, { sync: null, durability: 'strict' })).toBeNull();
});
