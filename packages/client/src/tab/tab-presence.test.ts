import { describe, expect, it } from 'vitest';
import type { Peer } from '../interface/presence.ts';
import type { OwnState, SeenState } from '../rpc/presence.ts';
import { PagePresence, type TabPresence } from './tab-presence.ts';

function createWorld(): { presence: TabPresence; told: (readonly OwnState[])[]; answer: () => Promise<void> } {
  const told: (readonly OwnState[])[] = [];
  let answers: (() => void)[] = [];
  const presence = new PagePresence({
    tabId: 'mine',
    show: (_tabId, states) => {
      told.push(states);
      return new Promise((resolve) => answers.push(resolve));
    },
    onProblem: (error) => expect.unreachable(String(error)),
  });
  const answer = async (): Promise<void> => {
    for (const settle of answers) settle();
    answers = [];
    await new Promise((resolve) => setTimeout(resolve));
  };
  return { presence, told, answer };
}

const seen = (changes: Partial<SeenState>): SeenState => ({
  tabId: 'theirs',
  siteId: 's',
  principal: 'ann',
  name: null,
  sinceMs: 1,
  topic: '',
  stateJson: '{}',
  ...changes,
});

describe('the presence of a tab', () => {
  it('sends nothing until it is used', () => {
    const { presence, told } = createWorld();
    presence.about('');
    presence.about('a note').set(null);
    expect(told).toEqual([]);
  });

  it('sends the newest state once the worker has responded', async () => {
    const { presence, told, answer } = createWorld();
    const mine = presence.about('');
    mine.subscribe(() => undefined);
    mine.set({ page: 1 });
    mine.set({ page: 2 });
    presence.about('a note').set({ n: 1 });
    await answer();
    await answer();
    expect(told).toEqual([
      [],
      [
        { topic: '', stateJson: '{"page":2}' },
        { topic: 'a note', stateJson: '{"n":1}' },
      ],
    ]);
    mine.set({ page: 2 });
    expect(told).toHaveLength(2);
    presence.showAgain();
    expect(told[2]).toEqual(told[1]);
  });

  it('lists the peers of a topic, longest present first, without itself and without peers whose state is not JSON', () => {
    const { presence } = createWorld();
    const heard: (readonly Peer[])[] = [];
    presence.about('').subscribe((others) => heard.push(others));
    presence.hear({
      whole: false,
      seen: [
        seen({ tabId: 'late', sinceMs: 5 }),
        seen({}),
        seen({ tabId: 'mine' }),
        seen({ tabId: 'odd', stateJson: '{' }),
        seen({ topic: 'a note' }),
      ],
    });
    expect(heard.map((others) => others.map(({ tabId }) => tabId))).toEqual([[], ['theirs', 'late']]);
    expect(presence.about('a note').current).toEqual([
      {
        tabId: 'theirs',
        siteId: 's',
        principal: 'ann',
        name: null,
        color: expect.stringMatching(/^oklch\(50% 0.13 \d+\)$/),
        sinceMs: 1,
        state: {},
      },
    ]);
    presence.hear({ whole: false, seen: [seen({ topic: 'a note', stateJson: null })] });
    expect(heard).toHaveLength(2);
    presence.hear({ whole: true, seen: [] });
    expect(presence.about('').current).toEqual([]);
    expect(heard.slice(2)).toEqual([[]]);
  });

  it('lists the tabs of two devices with the same tab id as two peers', () => {
    const { presence } = createWorld();
    presence.hear({ whole: false, seen: [seen({}), seen({ siteId: 'copied', sinceMs: 2 })] });
    expect(presence.about('').current.map(({ siteId }) => siteId)).toEqual(['s', 'copied']);
    presence.hear({ whole: false, seen: [seen({ stateJson: null })] });
    expect(presence.about('').current.map(({ siteId }) => siteId)).toEqual(['copied']);
  });

  it.each([
    ['not JSON', () => undefined, 'presence-invalid'],
    ['too large', 'x'.repeat(3000), 'presence-invalid'],
  ])('rejects a state that is %s', (_, state, code) => {
    const { presence, told } = createWorld();
    expect(() => presence.about('').set(state)).toThrow(expect.objectContaining({ code }));
    expect(told).toEqual([]);
  });
});
