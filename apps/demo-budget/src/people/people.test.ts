import type { Peer } from '@rockpool/client';
import { describe, expect, it } from 'vitest';
import { initials, peopleOf } from './people.ts';
import { isPersonName, keepPersonName, personName } from './person-name.ts';

const tab = (changes: Partial<Peer>): Peer => ({
  tabId: 't',
  siteId: 's',
  principal: 'device-1',
  name: 'Anna',
  color: 'teal',
  sinceMs: 1,
  state: { page: 'Notes' },
  ...changes,
});

describe('who is here', () => {
  it('shows one person for all their tabs, without this device', () => {
    const others = [
      tab({}),
      tab({ principal: 'device-2', name: null, sinceMs: 2 }),
      tab({ principal: 'here' }),
      tab({ sinceMs: 3, state: { page: 'Budget' } }),
    ];
    expect(peopleOf(others, 'here')).toEqual([
      { principal: 'device-1', name: 'Anna', color: 'teal', page: 'Budget', sinceMs: 1 },
      { principal: 'device-2', name: 'Someone (2)', color: 'teal', page: 'Notes', sinceMs: 2 },
    ]);
  });

  it.each([null, 1, { page: 1 }, {}, 'Notes'])('ignores the page %j', (state) =>
    expect(peopleOf([tab({ state })], '')[0]?.page).toBe(''),
  );

  it.each([
    ['Anna', 'A'],
    ['anna maria b', 'AB'],
    ['', ''],
    ['👩 x', '👩X'],
    ['Somebody (78e9)', 'S'],
  ])('shows initials: %s, %s', (name, letters) => expect(initials(name)).toBe(letters));
});

describe('the name of a person', () => {
  it('is stored on the device, trimmed and limited in length', () => {
    const kept = new Map<string, string>();
    const items = {
      getItem: (name: string) => kept.get(name) ?? null,
      setItem: (name: string, text: string) => void kept.set(name, text),
    };
    expect(personName(items)).toBe('');
    keepPersonName(items, ` ${'x'.repeat(50)} `);
    expect(personName(items)).toBe('x'.repeat(40));
    expect([isPersonName('x'.repeat(41)), isPersonName(1)]).toEqual([false, false]);
  });
});
