import { randomBytes } from 'node:crypto';
import {
  MAX_PRESENCE_STATE_BYTES,
  MAX_PRESENCE_STATES,
  PRESENCE_INTERVAL_MS,
  SILENCE_LIMIT_MS,
  type PresenceUpdate,
  type PresenceState,
  type SeenPresence,
} from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import { insert } from '../../testing/changeset.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { type TestConnection, TestSite } from '../../testing/test-client.ts';
import { DATABASE } from '../../testing/test-server.ts';

const tested = serverUnderTest();

function say(connection: TestConnection, ...states: Partial<PresenceState>[]): void {
  connection.send({
    type: 'presence',
    states: states.map((state) => ({ tabId: new Uint8Array(16), topic: '', stateJson: '{}', ...state })),
  });
}

/** Joins, and returns the members that were present. */
async function enter(connection: TestConnection, ...states: Partial<PresenceState>[]): Promise<PresenceUpdate> {
  say(connection, ...states);
  return connection.next('presence-update');
}

/** Reads updates until a state equals this one. */
async function seen(connection: TestConnection, isIt: (state: SeenPresence) => boolean): Promise<SeenPresence> {
  for (;;) {
    const found = (await connection.next('presence-update')).seen.find(isIt);
    if (found !== undefined) return found;
  }
}

const text = (stateJson: string) => (state: SeenPresence) => state.stateJson === stateJson;
const nothing = (state: SeenPresence): boolean => state.stateJson === null;

describe('presence of two principals with one site id', () => {
  it('shows both, and neither replaces the other', async () => {
    const victim = await tested.server.open();
    await enter(victim, { stateJson: '"ann is here"' });
    const other = await tested.server.open(new TestSite(victim.site.siteId), { principal: 'eve' });
    await enter(other, { stateJson: '"eve pretends"' });
    const watcher = await tested.server.open(undefined, { principal: 'ben' });
    const { seen: present } = await enter(watcher);
    expect(present.map(({ principal, stateJson }) => [principal, stateJson])).toEqual([
      ['ann', '"ann is here"'],
      ['eve', '"eve pretends"'],
    ]);
    expect(present.map(({ siteId }) => Buffer.from(siteId).equals(victim.site.siteId))).toEqual([true, false]);
    other.cut();
    expect(await seen(watcher, nothing)).toMatchObject({ principal: 'eve' });
  });

  it('does not let a principal reserve a site id without a state, to replace or hide another principal later', async () => {
    const watcher = await tested.server.open(undefined, { principal: 'ben' });
    await enter(watcher);
    const site = new TestSite();
    const squatter = await tested.server.open(new TestSite(site.siteId), { principal: 'eve' });
    await enter(squatter, { stateJson: '1' }, { stateJson: null });
    const victim = await tested.server.open(new TestSite(site.siteId));
    const tabId = randomBytes(16);
    await enter(victim, { tabId, stateJson: '"ann is here"' });
    const shown = await seen(watcher, text('"ann is here"'));
    // Eve has seen the tab id of ann.
    say(squatter, { tabId, stateJson: '"eve pretends"' });
    const pretended = await seen(watcher, text('"eve pretends"'));
    expect([shown.principal, pretended.principal]).toEqual(['ann', 'eve']);
    expect(Buffer.from(pretended.siteId).equals(shown.siteId)).toBe(false);
    say(squatter, { tabId, stateJson: null });
    expect(await seen(watcher, nothing)).toMatchObject({ principal: 'eve', siteId: pretended.siteId });
  });
});

describe('presence', () => {
  it('is sent only to members, with the principal and the name of the token', async () => {
    const site = new TestSite(randomBytes(16));
    const ann = await tested.server.connect(site);
    await ann.open(
      await tested.server.sync.issueToken({
        principal: 'ann',
        name: 'Ann Åkesson',
        databases: [DATABASE],
        ttlMs: 3_600_000,
      }),
      DATABASE,
    );
    const ben = await tested.server.open(undefined, { principal: 'ben', role: 'viewer' });
    const quiet = await tested.server.open(undefined, { principal: 'quy' });
    const elsewhere = await tested.server.open(undefined, { principal: 'eve', databaseId: 'elsewhere' });
    expect(await enter(elsewhere)).toMatchObject({ whole: true, seen: [] });
    expect(await enter(ann, { stateJson: '{"page":"budget"}' })).toMatchObject({ whole: true, seen: [] });
    const answer = await enter(ben, { stateJson: '"looks on"' });
    expect(answer).toMatchObject({
      whole: true,
      seen: [{ principal: 'ann', name: 'Ann Åkesson', topic: '', stateJson: '{"page":"budget"}' }],
    });
    expect([...(answer.seen[0] as SeenPresence).siteId]).toEqual([...site.siteId]);
    expect(await seen(ann, text('"looks on"'))).toMatchObject({ principal: 'ben', name: '' });
    await quiet.roundTrip();
    await elsewhere.roundTrip();
    expect([quiet.unread, elsewhere.unread]).toEqual([0, 0]);
  });

  it('names the tab, the topic and when the tab joined, even after its state has changed', async () => {
    const [ann, ben] = [await tested.server.open(), await tested.server.open(undefined, { principal: 'ben' })];
    await enter(ben);
    await enter(ann, { stateJson: '1' }, { tabId: randomBytes(16), topic: 'note', stateJson: '2' });
    const first = await seen(ben, text('1'));
    say(ann, { stateJson: '3' });
    const later = await seen(ben, text('3'));
    expect(later.sinceMs).toBe(first.sinceMs);
    const [again] = [await tested.server.open(undefined, { principal: 'cas' })];
    expect((await enter(again)).seen.map(({ topic, stateJson }) => [topic, stateJson])).toEqual([
      ['', '3'],
      ['note', '2'],
    ]);
  });

  it('is removed when its state becomes null, its socket breaks, or its member is revoked', async () => {
    const [ann, ben, cas] = [
      await tested.server.open(),
      await tested.server.open(undefined, { principal: 'ben' }),
      await tested.server.open(undefined, { principal: 'cas' }),
    ];
    await enter(ann);
    await enter(ben);
    say(ben, { stateJson: '1' });
    await seen(ann, text('1'));
    say(ben, { stateJson: null });
    await seen(ann, nothing);
    say(ben, { stateJson: '2' });
    await seen(ann, text('2'));
    ben.cut();
    expect(await seen(ann, nothing)).toMatchObject({ principal: 'ben' });
    await enter(cas, { stateJson: '3' });
    await seen(ann, text('3'));
    await tested.server.sync.members.setRole(DATABASE, 'cas', null);
    expect(await seen(ann, nothing)).toMatchObject({ principal: 'cas' });
  });

  it('is not stored in the database', async () => {
    const ann = await tested.server.open();
    await ann.commit([insert('accounts', 'x', { name: 'x' })]);
    await enter(ann, { stateJson: '"never written"' });
    await ann.roundTrip();
    await tested.restart();
    const again = await tested.server.open(undefined, { principal: 'ben' });
    expect(again.site.cursor).toBe(1);
    expect(await enter(again)).toMatchObject({ seen: [] });
  });

  it('reaches each session at most once per interval, with the newest states', async () => {
    const [ann, ben] = [await tested.server.open(), await tested.server.open(undefined, { principal: 'ben' })];
    await enter(ben);
    const startMs = performance.now();
    for (let n = 0; n < 400; n++) say(ann, { stateJson: String(n) });
    let messages = 0;
    for (let isLast = false; !isLast; messages++) isLast = (await ben.next('presence-update')).seen.some(text('399'));
    // A timer may end a millisecond early. The busier the machine, the more intervals pass.
    expect(messages).toBeLessThan(2 + (performance.now() - startMs) / (PRESENCE_INTERVAL_MS - 2));
  });

  it.each([
    ['is not JSON', [{ stateJson: '{' }], 'presence-invalid'],
    ['is too large', [{ stateJson: JSON.stringify('x'.repeat(MAX_PRESENCE_STATE_BYTES)) }], 'frame-invalid'],
    ['has a topic that is too long', [{ topic: 'x'.repeat(2000) }], 'frame-invalid'],
    [
      'has too many states in one message',
      Array.from({ length: MAX_PRESENCE_STATES + 1 }, (_, n) => ({ topic: String(n) })),
      'frame-invalid',
    ],
  ])('ends the session and reaches no member if it %s', async (_, states, code) => {
    const [ann, ben] = [await tested.server.open(), await tested.server.open(undefined, { principal: 'ben' })];
    await enter(ben);
    say(ann, ...states);
    expect(await ann.failure()).toMatchObject({ code });
    await ben.roundTrip();
    expect(ben.unread).toBe(0);
  });

  it('ends the session if it exceeds the number of topics per site', async () => {
    const ann = await tested.server.open();
    await enter(ann, ...Array.from({ length: MAX_PRESENCE_STATES }, (_, n) => ({ topic: String(n) })));
    say(ann, { topic: '0', stateJson: null }, { topic: 'new' });
    await ann.next('presence-update');
    say(ann, { topic: 'one more' });
    for (;;) {
      const message = await ann.next('presence-update').catch((thrown: unknown) => String(thrown));
      if (typeof message !== 'string') continue;
      expect(message).toContain('presence-invalid');
      return;
    }
  });
});

describe('presence of a silent session', () => {
  let nowMs = Date.now();
  const quiet = serverUnderTest({ now: () => nowMs, limits: { silenceLimitMs: SILENCE_LIMIT_MS } });

  it('ends with the session', async () => {
    const [ann, ben] = [await quiet.server.open(), await quiet.server.open(undefined, { principal: 'ben' })];
    await enter(ann);
    await enter(ben, { stateJson: '1' });
    await seen(ann, text('1'));
    for (let half = 0; half < 2; half++) {
      nowMs += 0.6 * SILENCE_LIMIT_MS;
      await ann.roundTrip();
    }
    expect(await seen(ann, nothing)).toMatchObject({ principal: 'ben' });
  });
});
