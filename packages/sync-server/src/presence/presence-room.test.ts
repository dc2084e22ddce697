import { decodeServerMessage, type PresenceState } from '@rockpool/shared';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { PresenceRoom, type PresenceMember } from './presence-room.ts';

const INTERVAL_MS = 100;
const NOW_MS = 1_763_683_200_000;

let room: PresenceRoom;
beforeEach(() => {
  vi.useFakeTimers();
  room = new PresenceRoom(null, INTERVAL_MS);
});
afterEach(() => {
  room.close();
  vi.useRealTimers();
});

interface TestMember extends PresenceMember {
  /** What the member sees: the JSON of each current state, by principal. */
  readonly shown: Map<string, string>;
  /** Called with the number of states in each message. */
  onStates: (count: number) => void;
}

/**
 * If `isSlow`, the member leaves when a message is sent to it, like a session whose client has too many unread bytes.
 */
function member(site: number, isSlow: () => boolean = () => false): TestMember {
  const shown = new Map<string, string>();
  const joined: TestMember = {
    site: site.toString(16).padStart(32, '0'),
    shown,
    onStates: () => undefined,
    send: (...messages) => {
      if (isSlow()) return room.leave(joined);
      for (const bytes of messages) {
        const message = decodeServerMessage(bytes);
        if (message.type !== 'presence-update') continue;
        joined.onStates(message.seen.length);
        for (const { principal, stateJson } of message.seen)
          if (stateJson === null) shown.delete(principal);
          else shown.set(principal, stateJson);
      }
    },
  };
  return joined;
}

function show(shownBy: PresenceMember, id: string, stateJson: string): void {
  const state: PresenceState = { tabId: new Uint8Array(16), topic: '', stateJson };
  room.show(shownBy, { principal: { id }, nowMs: NOW_MS }, [state]);
}

function afterUpdates(): void {
  vi.advanceTimersByTime(3 * INTERVAL_MS);
}

it('a presence room does not show a member whose session ends when it joins', () => {
  const watcher = member(1);
  show(watcher, 'ann', '1');
  afterUpdates();
  show(
    member(2, () => true),
    'ben',
    '2',
  );
  afterUpdates();
  expect([...watcher.shown]).toEqual([['ann', '1']]);
  expect(room.localStates()).toHaveLength(1);
});

it('a presence room sends nobody the states that come and go within an interval', () => {
  const watcher = member(1);
  const flooding = member(2);
  show(watcher, 'ann', '1');
  show(flooding, 'eve', '2');
  afterUpdates();
  show(flooding, 'eve', '3');
  let received = 0;
  watcher.onStates = (count) => (received += count);
  const say = (topic: string, stateJson: string | null): void =>
    room.show(flooding, { principal: { id: 'eve' }, nowMs: NOW_MS }, [{ tabId: new Uint8Array(16), topic, stateJson }]);
  for (let n = 0; n < 1_000; n++) for (const stateJson of ['4', null, null]) say(String(n), stateJson);
  // A state that others know is removed for them, however often it was set meanwhile.
  for (const stateJson of [null, '5', null]) say('', stateJson);
  say('last', '6');
  const late = member(3);
  show(late, 'ben', '7');
  say('last', null);
  afterUpdates();
  expect([...watcher.shown]).toEqual([
    ['ann', '1'],
    ['ben', '7'],
  ]);
  expect(late.shown).toEqual(watcher.shown);
  expect(received).toBeLessThan(10);
});

it('a presence room does not show a member whose session ends when its own update is sent', () => {
  let isSlow = false;
  const slow = member(1, () => isSlow);
  show(slow, 'ann', '1');
  const watcher = member(2);
  show(watcher, 'ben', '2');
  afterUpdates();
  isSlow = true;
  show(slow, 'ann', '3');
  afterUpdates();
  expect([...watcher.shown]).toEqual([['ben', '2']]);
  expect(vi.getTimerCount()).toBe(0);
});
