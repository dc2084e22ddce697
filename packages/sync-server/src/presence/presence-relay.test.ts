import { decodeServerMessage, encodeMessage, type SeenPresence } from '@rockpool/shared';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { InProcessBus } from '../bus/in-process-bus.ts';
import { PresenceRelay } from './presence-relay.ts';
import { PresenceRoom, type PresenceMember } from './presence-room.ts';

const bus = new InProcessBus();
const rooms: PresenceRoom[] = [];
const errors: unknown[] = [];

afterEach(() => {
  for (const room of rooms.splice(0)) room.close();
  expect(errors.splice(0)).toEqual([]);
});

interface Instance {
  readonly room: PresenceRoom;
  /**
   * Adds a member that publishes a state. Returns the members that it sees, as `principal state`, including those
   * reported as gone.
   */
  enter(
    principal: string,
    stateJson: string,
    tab?: number,
    /** The principal whose site id the member sends. Default: its own. */
    siteOf?: string,
  ): {
    readonly attendant: PresenceMember;
    readonly sees: () => string[];
    readonly gone: () => string[];
    say(stateJson: string): void;
  };
}

/** Instances of one server on an in-process bus, so that the tests do not have to wait. */
function instance({ databaseId = 'household', repeatMs = 60_000, silenceMs = 60_000 } = {}): Instance {
  const room = new PresenceRoom(
    new PresenceRelay({ bus, databaseId, onError: (error) => errors.push(error), repeatMs, silenceMs }),
    0,
  );
  rooms.push(room);
  return {
    room,
    enter(principal, stateJson, tab = 1, siteOf = principal) {
      const seen = new Map<string, SeenPresence>();
      const gone: string[] = [];
      const attendant: PresenceMember = {
        site: siteOf.padEnd(32, '0').replace(/[^0-9a-f]/g, '1'),
        send(...messages) {
          for (const bytes of messages) {
            const message = decodeServerMessage(bytes);
            if (message.type !== 'presence-update') throw new Error('not presence');
            if (message.whole) seen.clear();
            for (const one of message.seen) {
              const key = `${one.siteId.join()} ${one.tabId.join()} ${one.topic}`;
              if (one.stateJson === null) gone.push(one.principal);
              if (one.stateJson === null) seen.delete(key);
              else seen.set(key, one);
            }
          }
        },
      };
      const say = (json: string): void =>
        room.show(attendant, { principal: { id: principal }, nowMs: 1 }, [
          { tabId: new Uint8Array(16).fill(tab), topic: '', stateJson: json },
        ]);
      say(stateJson);
      return {
        attendant,
        sees: () => [...seen.values()].map((one) => `${one.principal} ${one.stateJson}`).sort(),
        gone: () => gone,
        say,
      };
    },
  };
}

describe('presence at several instances', () => {
  it('reaches peers that join before or after it, and is removed at every instance', async () => {
    const [a, b, elsewhere] = [instance(), instance(), instance({ databaseId: 'elsewhere' })];
    const ann = a.enter('ann', '1');
    const ben = b.enter('ben', '2');
    const eve = elsewhere.enter('eve', '3');
    await expect.poll(ann.sees).toEqual(['ann 1', 'ben 2']);
    await expect.poll(ben.sees).toEqual(['ann 1', 'ben 2']);
    const cas = b.enter('cas', '4');
    expect(cas.sees()).toContain('ann 1');
    ann.say('5');
    await expect.poll(ben.sees).toEqual(['ann 5', 'ben 2', 'cas 4']);
    a.room.leave(ann.attendant);
    await expect.poll(ben.sees).toEqual(['ben 2', 'cas 4']);
    expect(eve.sees()).toEqual(['eve 3']);
  });

  it('does not confuse two principals with one site id, at any instances and in any order of arrival', async () => {
    const [a, b] = [instance(), instance()];
    const watcher = a.enter('cyd', '0', 2);
    // When its own session begins, neither instance has heard of the other session.
    const eve = b.enter('eve', '1', 1, 'ann');
    const ann = a.enter('ann', '2');
    await expect.poll(watcher.sees).toEqual(['ann 2', 'cyd 0', 'eve 1']);
    eve.say('3');
    await expect.poll(watcher.sees).toEqual(['ann 2', 'cyd 0', 'eve 3']);
    b.room.leave(eve.attendant);
    await expect.poll(watcher.sees).toEqual(['ann 2', 'cyd 0']);
    expect(ann.sees()).toEqual(['ann 2', 'cyd 0']);
  });

  it('stays with a site that moves to another instance before the first one notices', async () => {
    const [a, b, c] = [instance(), instance(), instance()];
    const before = a.enter('ann', '1');
    const ben = b.enter('ben', '2');
    const cas = c.enter('cas', '3');
    await expect.poll(cas.sees).toEqual(['ann 1', 'ben 2', 'cas 3']);
    b.enter('ann', '4');
    await expect.poll(cas.sees).toEqual(['ann 4', 'ben 2', 'cas 3']);
    a.room.leave(before.attendant);
    cas.say('5');
    await expect.poll(ben.sees).toEqual(['ann 4', 'ben 2', 'cas 5']);
    expect(cas.sees()).toContain('ann 4');
    expect(ben.gone()).toEqual([]);
  });

  it('is removed if its instance is dead, and repeated if the instance is alive', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const [a, b] = [instance({ repeatMs: 5, silenceMs: 60_000 }), instance({ repeatMs: 5, silenceMs: 100 })];
    a.enter('ann', '1');
    const ben = b.enter('ben', '2');
    vi.advanceTimersByTime(50);
    expect(ben.sees()).toEqual(['ann 1', 'ben 2']);
    bus.publish({ kind: 'presence', databaseId: 'household', instance: 'dies', update: deadUpdate(), asks: false });
    vi.advanceTimersByTime(90);
    expect(ben.sees()).toEqual(['ann 1', 'ben 2', 'dead 9']);
    vi.advanceTimersByTime(20);
    expect(ben.sees()).toEqual(['ann 1', 'ben 2']);
    vi.advanceTimersByTime(1_000);
    expect(ben.sees()).toEqual(['ann 1', 'ben 2']);
    expect(ben.gone()).toEqual(['dead']);
  });

  it('reaches an instance that joins later as a whole, even if it takes several messages', async () => {
    const [a, b] = [instance(), instance()];
    const large = JSON.stringify('x'.repeat(1_500));
    const principals = ['ann', 'ben', 'cas', 'dan', 'eve'];
    for (const principal of principals) a.enter(principal, large);
    const watcher = b.enter('fay', '1');
    await expect.poll(watcher.sees).toEqual([...principals.map((principal) => `${principal} ${large}`), 'fay 1']);
  });

  it('is removed by the next repetition if the message about its removal was lost', async () => {
    const ben = instance().enter('ben', '2');
    const repeat = (update: string): void =>
      bus.publish({ kind: 'presence', databaseId: 'household', instance: 'lossy', update, asks: false });
    repeat(deadUpdate());
    await expect.poll(ben.sees).toEqual(['ben 2', 'dead 9']);
    const nothing = encodeMessage({ type: 'presence-update', whole: true, seen: [] });
    repeat(Buffer.from(nothing).toString('base64'));
    await expect.poll(ben.sees).toEqual(['ben 2']);
    expect(ben.gone()).toEqual(['dead']);
  });

  it('is removed at once if its instance closes the database', async () => {
    const [a, b] = [instance(), instance()];
    a.enter('ann', '1');
    const ben = b.enter('ben', '2');
    await expect.poll(ben.sees).toEqual(['ann 1', 'ben 2']);
    a.room.close();
    await expect.poll(ben.sees).toEqual(['ben 2']);
  });

  it('ignores invalid messages and reports them', () => {
    const a = instance();
    const ann = a.enter('ann', '1');
    bus.publish({ kind: 'presence', databaseId: 'household', instance: 'x', update: 'AAAA', asks: true });
    expect(errors.splice(0)).toMatchObject([{ code: 'frame-invalid' }]);
    expect(ann.sees()).toEqual(['ann 1']);
  });
});

function deadUpdate(): string {
  let update = '';
  const stop = bus.subscribe({ databaseId: 'nowhere' }, (message) => {
    if (message.kind === 'presence') update = message.update;
  });
  instance({ databaseId: 'nowhere' }).enter('dead', '9');
  stop();
  return update;
}
