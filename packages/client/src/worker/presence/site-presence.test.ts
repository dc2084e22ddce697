import { MAX_PRESENCE_STATES, PRESENCE_INTERVAL_MS, type PresenceState, type RockpoolError } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import type { PeersUpdate } from '../../rpc/presence.ts';
import { newId } from '../../new-id.ts';
import { bytesToUuid, SitePresence, uuidToBytes } from './site-presence.ts';

const [TAB, OTHER] = [newId(), newId()];

interface World {
  readonly presence: SitePresence;
  /** The messages to the server, as one list per message. */
  readonly told: (readonly [topic: string, stateJson: string | null])[][];
  readonly update: PeersUpdate[];
  readonly problems: RockpoolError[];
  connect(): void;
  passInterval(): void;
}

function createWorld(): World {
  const told: World['told'] = [];
  const update: PeersUpdate[] = [];
  const problems: RockpoolError[] = [];
  let timer: (() => void) | null = null;
  const clock = {
    nowMs: () => 0,
    elapsedMs: () => 0,
    after: (delayMs: number, callback: () => void) => {
      expect(delayMs).toBe(PRESENCE_INTERVAL_MS);
      timer = callback;
      return () => (timer = null);
    },
  };
  const presence = new SitePresence({
    clock,
    onUpdate: (said) => update.push(said),
    onProblem: (error) => problems.push(error),
  });
  return {
    presence,
    told,
    update,
    problems,
    connect: () =>
      presence.connected(
        (states: readonly PresenceState[]) => void told.push(states.map(({ topic, stateJson }) => [topic, stateJson])),
      ),
    passInterval: () => {
      const due = timer;
      timer = null;
      due?.();
    },
  };
}

describe('the presence of a site', () => {
  it('is not sent before a tab uses presence', () => {
    const world = createWorld();
    world.connect();
    expect(world.told).toEqual([]);
    world.presence.show(TAB, []);
    expect(world.told).toEqual([[]]);
  });

  it('is sent at once, then once per interval with the newest state of each tab', () => {
    const world = createWorld();
    world.connect();
    for (let n = 0; n < 5; n++) world.presence.show(TAB, [{ topic: 'a', stateJson: String(n) }]);
    world.presence.show(TAB, [{ topic: 'b', stateJson: '9' }]);
    expect(world.told).toEqual([[['a', '0']]]);
    world.passInterval();
    world.passInterval();
    expect(world.told).toEqual([
      [['a', '0']],
      [
        ['a', '4'],
        ['b', '9'],
      ],
    ]);
  });

  it('is sent again on every connection, with the changes made while offline', () => {
    const world = createWorld();
    world.connect();
    world.presence.show(TAB, [{ topic: 'a', stateJson: '1' }]);
    world.presence.disconnected();
    world.presence.show(OTHER, [{ topic: 'a', stateJson: '2' }]);
    world.presence.show(TAB, [{ topic: 'a', stateJson: '3' }]);
    world.connect();
    expect(world.told.at(-1)).toEqual([
      ['a', '3'],
      ['a', '2'],
    ]);
  });

  it('withdraws the states of a tab that ends', () => {
    const world = createWorld();
    world.presence.show(TAB, [{ topic: 'a', stateJson: '1' }]);
    world.presence.show(OTHER, [{ topic: 'b', stateJson: '2' }]);
    world.connect();
    world.presence.forget(TAB);
    world.passInterval();
    expect(world.told.at(-1)).toEqual([['a', null]]);
  });

  it('lists no peers without a connection', () => {
    const world = createWorld();
    const state = {
      siteId: new Uint8Array(16),
      tabId: uuidToBytes(TAB),
      principal: 'ann',
      name: '',
      sinceMs: 1,
      topic: '',
      stateJson: '{}',
    };
    world.presence.heard({ type: 'presence-update', whole: true, seen: [state] });
    expect(world.presence.everybody).toEqual({
      whole: true,
      seen: [
        { siteId: '0'.repeat(32), tabId: TAB, principal: 'ann', name: null, sinceMs: 1, topic: '', stateJson: '{}' },
      ],
    });
    world.presence.disconnected();
    expect(world.update.at(-1)).toEqual({ whole: true, seen: [] });
  });

  it('accepts as many states as the server does, and reports an error for more', () => {
    const world = createWorld();
    world.connect();
    world.presence.show(
      TAB,
      Array.from({ length: MAX_PRESENCE_STATES + 1 }, (_, n) => ({ topic: String(n), stateJson: '1' })),
    );
    expect(world.problems.map(({ code }) => code)).toEqual(['presence-invalid']);
    expect(world.told.flat()).toHaveLength(MAX_PRESENCE_STATES);
    world.presence.show(TAB, [
      { topic: '0', stateJson: null },
      { topic: 'new', stateJson: '1' },
    ]);
    world.passInterval();
    expect(world.told.at(-1)).toEqual([
      ['0', null],
      ['new', '1'],
    ]);
  });

  it('sends more changes than one message holds in several messages, with the removals first', () => {
    const world = createWorld();
    world.connect();
    const all = (prefix: string, stateJson: string | null): { topic: string; stateJson: string | null }[] =>
      Array.from({ length: MAX_PRESENCE_STATES }, (_, n) => ({ topic: `${prefix}${n}`, stateJson }));
    world.presence.show(TAB, all('old', '1'));
    world.presence.show(TAB, [...all('old', null), ...all('new', '2')]);
    world.passInterval();
    expect(world.problems).toEqual([]);
    expect(world.told.map((states) => [states.length, ...new Set(states.map(([, stateJson]) => stateJson))])).toEqual([
      [MAX_PRESENCE_STATES, '1'],
      [MAX_PRESENCE_STATES, null],
      [MAX_PRESENCE_STATES, '2'],
    ]);
  });
});

describe('ids', () => {
  it('convert from text to bytes and back unchanged', () => expect(bytesToUuid(uuidToBytes(TAB))).toBe(TAB));
});
