import {
  FIRST_LOG_HASH,
  RockpoolError,
  SILENCE_LIMIT_MS,
  PING_INTERVAL_MS,
  PROTOCOL_VERSION,
  type Delivery,
  type ErrorCode,
  type Welcome,
} from '@rockpool/shared';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CALM_RETRY_MS } from './retry-delay.ts';
import {
  CONNECT_DEADLINE_MS,
  DELIVERY_DEADLINE_MS,
  OUTCOME_DEADLINE_MS,
  CHECK_DEADLINE_MS,
  SNAPSHOT_GRACE_MS,
} from './sync-deadlines.ts';
import { nextStep, type Step } from './sync-machine.ts';
import { asksFullResync, INITIAL_STATE, type MachineEvent, type MachineState } from './sync-state.ts';
import { syncReport } from './sync-status.ts';

const NOW_MS = 1_700_000_000_000;
const idle = { pendingCount: 0, rejectedCount: 0 };
const welcome: Welcome = {
  type: 'welcome',
  protocolVersion: PROTOCOL_VERSION,
  databaseIdentity: new Uint8Array(16),
  logEpoch: new Uint8Array(16),
  watermark: 5,
  lastAckedSequence: 2,
  decidedHash: new Uint8Array(16),
  fullResync: false,
  serverNowMs: NOW_MS - 90,
  canWrite: true,
  takeSnapshot: false,
};
const delivery = (lastAckedSequence: number): Delivery => ({
  type: 'delivery',
  whole: false,
  from: 5,
  to: 6,
  logHash: FIRST_LOG_HASH,
  lastAckedSequence,
  outcomes: [],
  groups: [],
});
const failure = (code: ErrorCode): MachineEvent => ({ type: 'failed', error: new RockpoolError(code).toData() });

function after(
  events: readonly (MachineEvent | number)[],
  from: MachineState = INITIAL_STATE,
): Step & { nowMs: number } {
  let nowMs = NOW_MS;
  let step: Step = { state: from, effects: [] };
  for (const event of events) {
    if (typeof event === 'number') nowMs += event;
    else step = nextStep(step.state, event, { nowMs, wallMs: nowMs, random: 0.5 });
  }
  return { ...step, nowMs };
}

const HAD: MachineEvent = { type: 'token-had' };
const HELLO: MachineEvent = { type: 'hello-sent', lastAckedSequence: 2 };
const live: readonly MachineEvent[] = [{ type: 'start' }, HAD, HELLO, { type: 'message', message: welcome }];

describe('the sync machine', () => {
  it('connects, sends the hello, and after the welcome pushes from the server’s position', () => {
    expect(after([{ type: 'start' }]).effects).toEqual([{ type: 'connect' }]);
    const step = after(live);
    expect(step.state).toMatchObject({
      phase: 'live',
      sentUpTo: 2,
      lastAckedSequence: 2,
      clockOffsetMs: 90,
      trouble: null,
    });
    expect(step.effects).toEqual([
      { type: 'welcome', welcome },
      { type: 'push', after: 2 },
    ]);
  });

  it('pushes a new commit after the changesets already sent, and further ones when outcomes arrive', () => {
    const sent = after([...live, { type: 'committed' }, { type: 'pushed', sentUpTo: 4 }, { type: 'committed' }]);
    expect(sent.effects).toEqual([{ type: 'push', after: 4 }]);
    const decided = after([{ type: 'message', message: delivery(3) }], sent.state);
    expect(decided.effects).toEqual([
      { type: 'apply', deliveries: [delivery(3)] },
      { type: 'push', after: 4 },
    ]);
    expect(decided.state.waitingSinceMs).not.toBeNull();
    expect(after([{ type: 'message', message: delivery(4) }], sent.state).state.waitingSinceMs).toBeNull();
  });

  it('pushes after the last decided changeset, even if an earlier connection sent it', () => {
    const decided = after([...live, { type: 'message', message: delivery(7) }]);
    expect(decided.effects).toContainEqual({ type: 'push', after: 7 });
    expect(syncReport(decided.state, idle).sentUpTo).toBe(7);
  });

  it('pushes nothing with a read-only token, and reports the reason while changes are pending', () => {
    const step = after([
      { type: 'start' },
      HAD,
      HELLO,
      { type: 'message', message: { ...welcome, canWrite: false } },
      { type: 'message', message: delivery(2) },
      { type: 'committed' },
    ]);
    expect(step.effects).toEqual([]);
    expect(syncReport(step.state, { pendingCount: 1, rejectedCount: 0 })).toMatchObject({
      state: 'blocked',
      reason: { code: 'auth-forbidden' },
    });
    expect(syncReport(step.state, idle)).toMatchObject({ state: 'up-to-date', reason: null });
  });

  it('reports whether the user may write, as the last welcome said', () => {
    const begun = after([{ type: 'start' }]);
    expect(syncReport(begun.state, idle).userMayWrite).toBe(null);
    const viewer = after([HAD, HELLO, { type: 'message', message: { ...welcome, canWrite: false } }], begun.state);
    const paused = after([{ type: 'pause' }], viewer.state);
    for (const { state } of [viewer, paused, after([{ type: 'resume' }], paused.state)])
      expect(syncReport(state, idle).userMayWrite).toBe(false);
    const lost = after([failure('network-unreachable')], viewer.state);
    expect(syncReport(lost.state, idle).userMayWrite).toBe(false);
  });

  it('pings at an even interval, whatever it receives, and closes the connection after a long silence', () => {
    const pinged = after([...live, PING_INTERVAL_MS, { type: 'wake' }]);
    expect(pinged.effects).toEqual([{ type: 'ping' }]);
    expect(pinged.state.wakeAtMs).toBe(NOW_MS + 2 * PING_INTERVAL_MS);
    // A client that only receives sends nothing else, and the server would take it for dead.
    const presence: MachineEvent = { type: 'message', message: { type: 'presence-update', whole: false, seen: [] } };
    const receives = after([...live, PING_INTERVAL_MS - 1, presence, 1, { type: 'wake' }]);
    expect(receives.effects).toEqual([{ type: 'ping' }]);
    const silent = after([
      ...live,
      { type: 'message', message: delivery(2) },
      PING_INTERVAL_MS,
      { type: 'wake' },
      SILENCE_LIMIT_MS,
      { type: 'wake' },
    ]);
    expect(silent.state).toMatchObject({
      phase: 'waiting',
      trouble: { code: 'network-unreachable', fields: { stage: 'silence' } },
    });
  });

  it('checks a connection at once when the device goes offline, and gives the connection up if no response comes', () => {
    const checked = after([...live, { type: 'message', message: delivery(2) }, 1_000, { type: 'check' }]);
    expect(checked.effects).toEqual([{ type: 'ping' }]);
    expect(after([{ type: 'check' }], checked.state).effects).toEqual([]);
    const checkedMs = NOW_MS + 1_000;
    expect(checked.state.wakeAtMs).toBe(checkedMs + CHECK_DEADLINE_MS);
    const later = (event: MachineEvent): Step =>
      nextStep(checked.state, event, { nowMs: checkedMs + CHECK_DEADLINE_MS, wallMs: NOW_MS, random: 0.5 });
    expect(later({ type: 'wake' }).state).toMatchObject({
      phase: 'waiting',
      trouble: { code: 'network-unreachable', fields: { stage: 'silence', waitedMs: CHECK_DEADLINE_MS } },
    });
    // A server on this device answers.
    const answered = later({ type: 'message', message: { type: 'pong', serverNowMs: NOW_MS } });
    expect(answered.state).toMatchObject({ phase: 'live', checkUntilMs: null });
    expect(answered.state.wakeAtMs).toBe(checkedMs + PING_INTERVAL_MS);
  });

  it('reconnects if an outcome is overdue, even if the server answers pings', () => {
    const step = after([
      ...live,
      { type: 'pushed', sentUpTo: 3 },
      OUTCOME_DEADLINE_MS - 1,
      { type: 'message', message: { type: 'pong', serverNowMs: NOW_MS } },
      1,
      { type: 'wake' },
    ]);
    expect(step.state).toMatchObject({ phase: 'waiting', trouble: { fields: { stage: 'outcome' } } });
    expect(step.effects).toEqual([{ type: 'disconnect' }]);
  });

  it('keeps a connection while a slow network transfers a message, until the transfer stops', () => {
    const sent: MachineEvent = { type: 'progress', isReceived: false };
    const received: MachineEvent = { type: 'progress', isReceived: true };
    const pushed: MachineEvent = { type: 'pushed', sentUpTo: 3 };
    for (const progress of [sent, received]) {
      const slow = Array.from({ length: 20 }, () => [
        OUTCOME_DEADLINE_MS - 1,
        progress,
        { type: 'wake' } as const,
      ]).flat();
      const { state } = after([...live, pushed, ...slow]);
      expect(state.phase).toBe('live');
      const stopped = after([...live, pushed, ...slow, OUTCOME_DEADLINE_MS, { type: 'wake' }]).state;
      expect(stopped).toMatchObject({ phase: 'waiting', trouble: { fields: { stage: 'outcome' } } });
    }
    const lastContact = (progress: MachineEvent): unknown =>
      syncReport(after([...live, 1_000, progress]).state, idle).lastContactMs;
    expect([sent, received].map(lastContact)).toEqual([NOW_MS, NOW_MS + 1_000]);
  });

  it('gives up an attempt that hangs at any stage', () => {
    const hangs = (...events: readonly MachineEvent[]): unknown =>
      after([...events, CONNECT_DEADLINE_MS, { type: 'wake' }]).state;
    const unreachable = (stage: string): object => ({
      phase: 'waiting',
      trouble: { code: 'network-unreachable', fields: { stage, waitedMs: CONNECT_DEADLINE_MS } },
    });
    expect(hangs({ type: 'start' })).toMatchObject(unreachable('token'));
    expect(hangs({ type: 'start' }, HAD)).toMatchObject(unreachable('socket'));
    expect(hangs({ type: 'start' }, HAD, HELLO)).toMatchObject(unreachable('welcome'));
    const early: readonly (MachineEvent | number)[] = [
      { type: 'start' },
      CONNECT_DEADLINE_MS - 1,
      HAD,
      CONNECT_DEADLINE_MS - 1,
      HELLO,
      CONNECT_DEADLINE_MS - 1,
      { type: 'wake' },
    ];
    expect(after(early).state.phase).toBe('greeting');
  });

  it('continues without the snapshot if its download stalls past its deadline', () => {
    const moves: MachineEvent = { type: 'snapshot-progress', wait: { stage: 'snapshot-download', withinMs: 8_000 } };
    const fetching: readonly MachineEvent[] = [
      { type: 'start' },
      HAD,
      HELLO,
      { type: 'message', message: { ...welcome, takeSnapshot: true } },
      moves,
    ];
    const patienceMs = 8_000 + SNAPSHOT_GRACE_MS;
    expect(after([...fetching, patienceMs - 1, moves, patienceMs - 1, { type: 'wake' }]).state.phase).toBe('fetching');
    const overdue = after([...fetching, patienceMs, { type: 'wake' }]);
    const error = new RockpoolError('snapshot-unavailable', {
      stage: 'snapshot-download',
      waitedMs: patienceMs,
    }).toData();
    expect(overdue.effects).toEqual([{ type: 'give-up-snapshot', error }, { type: 'disconnect' }, { type: 'connect' }]);
    expect(overdue.state.phase).toBe('authorizing');
  });

  it('reconnects at once on request, and otherwise only after the delay', () => {
    const waiting = after([{ type: 'start' }, failure('network-unreachable')]);
    expect(after([{ type: 'try-now' }], waiting.state).effects).toEqual([{ type: 'connect' }]);
    expect(after([{ type: 'wake' }], waiting.state).effects).toEqual([]);
    expect(
      nextStep(waiting.state, { type: 'wake' }, { nowMs: waiting.state.wakeAtMs ?? 0, wallMs: 0, random: 0 }).effects,
    ).toEqual([{ type: 'connect' }]);
  });

  it('does not count a welcome as a success: the delay grows until a delivery is written', () => {
    const thrownOut = failure('session-replaced');
    const twice = after([
      ...live,
      thrownOut,
      { type: 'try-now' },
      HAD,
      HELLO,
      { type: 'message', message: welcome },
      thrownOut,
    ]);
    expect(twice.state).toMatchObject({ phase: 'waiting', failures: 2 });
    const written = after(
      [
        { type: 'try-now' },
        HAD,
        HELLO,
        { type: 'message', message: welcome },
        { type: 'message', message: delivery(2) },
        { type: 'applied' },
        thrownOut,
      ],
      twice.state,
    );
    expect(written.state).toMatchObject({ phase: 'waiting', failures: 1 });
  });

  it('requests a new token at once when the old one expires, and after a delay if the new one is refused too', () => {
    const expiry: MachineEvent = {
      type: 'message',
      message: { type: 'failure', code: 'auth-token-expired', fields: {} },
    };
    const expired = after([...live, expiry]);
    expect(expired.effects).toEqual([{ type: 'disconnect' }, { type: 'connect' }]);
    // Nobody has to sign in.
    expect(syncReport(expired.state, idle)).toMatchObject({ state: 'connecting', reason: null });
    const again = after([HAD, HELLO, expiry], expired.state);
    expect((again.state.wakeAtMs ?? 0) - NOW_MS).toBe(CALM_RETRY_MS * 0.75);
    expect(syncReport(again.state, idle).state).toBe('needs-auth');
    // The first token may have been kept too long.
    expect(after([{ type: 'start' }, HAD, HELLO, expiry]).state).toMatchObject({ phase: 'waiting', wakeAtMs: NOW_MS });
  });

  describe('after the server has refused a push', () => {
    const refusal = (code: ErrorCode): MachineEvent => ({
      type: 'message',
      message: { type: 'failure', code, fields: {} },
    });
    const refusedPush = refusal('quota-exceeded');
    const reconnected: readonly MachineEvent[] = [HAD, HELLO, { type: 'message', message: welcome }];
    const pending = { pendingCount: 1, rejectedCount: 0 };
    const repeatedMs = NOW_MS + CALM_RETRY_MS * 0.75;

    it.each(['quota-exceeded', 'auth-forbidden'] as const)('reconnects at once and only the push waits: %s', (code) => {
      const refused = after([...live, { type: 'pushed', sentUpTo: 3 }, refusal(code)]);
      expect(refused.effects).toEqual([{ type: 'disconnect' }, { type: 'connect' }]);
      expect(syncReport(refused.state, pending)).toMatchObject({ state: 'blocked', reason: { code } });
      const again = after(reconnected, refused.state);
      expect(again.effects).toEqual([{ type: 'welcome', welcome }]);
      expect(again.state.wakeAtMs).toBeLessThanOrEqual(repeatedMs);
      expect(syncReport(again.state, pending)).toMatchObject({
        state: 'blocked',
        reason: { code, fields: { nextAttemptMs: repeatedMs } },
      });
      const served = after([{ type: 'message', message: delivery(2) }, { type: 'committed' }], again.state);
      expect(served.effects).toEqual([]);
      expect(syncReport(served.state, idle)).toMatchObject({ state: 'up-to-date', reason: null });
    });

    const served = after([...live, { type: 'pushed', sentUpTo: 3 }, refusedPush, ...reconnected]);
    const heard: MachineEvent = { type: 'message', message: delivery(2) };

    it('pushes again after the delay, on the same connection', () => {
      const { state } = after([heard, PING_INTERVAL_MS, { type: 'wake' }, heard], served.state);
      const due = nextStep(state, { type: 'wake' }, { nowMs: repeatedMs, wallMs: repeatedMs, random: 0.5 });
      expect(due.effects).toEqual([{ type: 'push', after: 2 }]);
      expect(due.state.refusal).toBeNull();
    });

    it('pushes again at once on request', () => {
      expect(after([heard, { type: 'try-now' }], served.state).effects).toEqual([{ type: 'push', after: 2 }]);
    });

    it('pushes again at once when the right to write has been lost and granted again', () => {
      const lost = after([refusedPush, HAD, HELLO], after(live).state);
      const readOnly = after([{ type: 'message', message: { ...welcome, canWrite: false } }], lost.state);
      const granted = after([failure('network-unreachable'), 5_000, { type: 'wake' }, ...reconnected], readOnly.state);
      expect(granted.effects).toEqual([
        { type: 'welcome', welcome },
        { type: 'push', after: 2 },
      ]);
    });

    it('stays unavailable while the server’s disk is full, with rarer pushes, and receives the changes of others', () => {
      const full = refusal('server-disk-full');
      let { state } = after([...live, { type: 'pushed', sentUpTo: 3 }, full]);
      for (const waitMs of [375, 750, 1_500]) {
        expect(syncReport(state, pending).state).toBe('unavailable');
        state = after([...reconnected, heard, { type: 'applied' }], state).state;
        expect(syncReport(state, pending)).toMatchObject({
          state: 'unavailable',
          reason: { code: 'server-disk-full', fields: { nextAttemptMs: NOW_MS + waitMs } },
        });
        expect(after([{ type: 'committed' }], state).effects).toEqual([]);
        const again = after([{ type: 'try-now' }, { type: 'pushed', sentUpTo: 3 }], state);
        expect(syncReport(again.state, pending)).toMatchObject({ state: 'unavailable' });
        state = after([full], again.state).state;
      }
    });

    it('waits before it reconnects if it is refused even without a push', () => {
      expect(after([refusedPush], served.state).state).toMatchObject({ phase: 'waiting', wakeAtMs: repeatedMs });
    });
  });

  it('ends the connection on an unexpected message', () => {
    expect(
      after([{ type: 'start' }, HAD, HELLO, { type: 'message', message: delivery(0) }]).state.trouble,
    ).toMatchObject({ code: 'frame-unexpected' });
  });

  it('pushes nothing before the promised full resync has arrived', () => {
    const greeted = after([
      { type: 'start' },
      HAD,
      HELLO,
      { type: 'message', message: { ...welcome, fullResync: true } },
      { type: 'committed' },
    ]);
    expect(greeted.effects).toEqual([]);
    const everything: Delivery = { ...delivery(2), whole: true, from: 0 };
    expect(after([{ type: 'message', message: everything }], greeted.state).effects).toEqual([
      { type: 'apply', deliveries: [everything] },
      { type: 'push', after: 2 },
    ]);
    expect(after([{ type: 'message', message: delivery(2) }], greeted.state).state).toMatchObject({
      phase: 'waiting',
      trouble: { code: 'frame-unexpected' },
    });
  });

  it('pushes nothing before it has the outcomes that the server keeps for it, because a missing one means that its file was copied', () => {
    const greeted = after([
      { type: 'start' },
      HAD,
      { type: 'hello-sent', lastAckedSequence: 1 },
      { type: 'message', message: welcome },
      { type: 'committed' },
    ]);
    expect(greeted.effects).toEqual([]);
    expect(after([{ type: 'message', message: delivery(2) }], greeted.state).effects).toEqual([
      { type: 'apply', deliveries: [delivery(2)] },
      { type: 'push', after: 2 },
    ]);
  });

  it('applies and pushes nothing while it asks which changesets a copied file shares, up to a deadline', () => {
    const copied = after([...live, { type: 'copied' }]);
    expect(after([{ type: 'message', message: delivery(5) }], copied.state).effects).toEqual([]);
    expect(after([{ type: 'committed' }], copied.state).effects).toEqual([]);
    expect(
      after([
        ...live,
        { type: 'copied' },
        OUTCOME_DEADLINE_MS,
        { type: 'message', message: { type: 'pong', serverNowMs: NOW_MS } },
        { type: 'wake' },
      ]).state.trouble,
    ).toMatchObject({ fields: { stage: 'outcome' } });
  });

  it('becomes a new site at once if the server names the first differing changeset', () => {
    const named: MachineEvent = {
      type: 'message',
      message: { type: 'failure', code: 'site-copied', fields: { sequence: 7 } },
    };
    const told = after([...live, { type: 'copied' }, named]);
    expect(told.effects).toEqual([{ type: 'disconnect' }, { type: 'become-new-site', firstOwn: 7 }]);
    const renumbered = after([{ type: 'renumbered' }], told.state);
    expect(renumbered.effects).toEqual([{ type: 'disconnect' }, { type: 'connect' }]);
    expect(renumbered.state).toMatchObject({ phase: 'authorizing', trouble: null, copied: false });
    // A server that repeats the failure is asked again only after a delay.
    const again = after([HAD, HELLO, named, { type: 'renumbered' }], renumbered.state);
    expect(again).toMatchObject({ state: { phase: 'waiting', failures: 2 }, effects: [] });
    expect(after([...live, failure('site-copied')]).effects).toEqual([{ type: 'disconnect' }]);
  });

  it('always has a time to wake up unless it is stopped', () => {
    const event: fc.Arbitrary<MachineEvent | number> = fc.oneof(
      fc.integer({ min: 1, max: 50_000 }),
      fc.constantFrom<MachineEvent>(
        ...live,
        { type: 'try-now' },
        { type: 'wake' },
        { type: 'committed' },
        { type: 'pushed', sentUpTo: 3 },
        { type: 'copied' },
        { type: 'renumbered' },
        { type: 'message', message: { ...welcome, fullResync: true } },
        { type: 'message', message: delivery(3) },
        { type: 'message', message: { type: 'pong', serverNowMs: NOW_MS } },
        failure('network-unreachable'),
        failure('schema-mismatch'),
        failure('auth-token-invalid'),
      ),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), (events) => {
        const { state } = after([{ type: 'start' }, ...events]);
        expect(state.wakeAtMs).not.toBeNull();
      }),
    );
  });

  it('stops permanently on request', () => {
    const step = after([...live, { type: 'stop' }]);
    expect(step).toMatchObject({ state: { phase: 'stopped', wakeAtMs: null }, effects: [{ type: 'disconnect' }] });
  });
});

describe('the sync report', () => {
  it('is up-to-date only if connected with nothing waiting', () => {
    const welcomed = after(live).state;
    expect(syncReport(welcomed, idle).state).toBe('connecting');
    const caughtUp = after([{ type: 'message', message: delivery(2) }], welcomed).state;
    expect(syncReport(caughtUp, idle).state).toBe('up-to-date');
    expect(syncReport(caughtUp, { pendingCount: 2, rejectedCount: 0 }).state).toBe('pushing');
    expect(syncReport(after([{ type: 'start' }]).state, idle).state).toBe('connecting');
    expect(syncReport(INITIAL_STATE, idle).state).toBe('offline');
  });

  it('names the reason and the time of the next attempt while not connected', () => {
    const { state } = after([{ type: 'start' }, failure('network-unreachable')]);
    expect(syncReport(state, idle)).toMatchObject({
      state: 'offline',
      reason: { code: 'network-unreachable', fields: { nextAttemptMs: NOW_MS + 1_500 } },
    });
    const blocked = after([{ type: 'start' }, failure('schema-mismatch')]).state;
    expect(syncReport(blocked, idle).state).toBe('blocked');
  });
});

describe('the reported wait', () => {
  const waitAfter = (...events: readonly MachineEvent[]): unknown =>
    syncReport(after([{ type: 'start' }, ...events]).state, idle, 7).waitingFor;
  const wait = (stage: string, withinMs: number): object => ({
    stage,
    sinceMs: NOW_MS + 7,
    deadlineMs: NOW_MS + 7 + withinMs,
  });

  it('has a stage, a start time and a deadline, from the token to the first delivery', () => {
    expect(waitAfter()).toEqual(wait('token', CONNECT_DEADLINE_MS));
    expect(waitAfter(HAD)).toEqual(wait('socket', CONNECT_DEADLINE_MS));
    expect(waitAfter(HAD, HELLO)).toEqual(wait('welcome', CONNECT_DEADLINE_MS));
    const takes: MachineEvent = { type: 'message', message: { ...welcome, takeSnapshot: true } };
    expect(waitAfter(HAD, HELLO, takes)).toMatchObject({ stage: 'token' });
    for (const stage of ['snapshot-answer', 'snapshot-build', 'snapshot-download', 'snapshot-store'] as const) {
      expect(waitAfter(HAD, HELLO, takes, { type: 'snapshot-progress', wait: { stage, withinMs: 3_000 } })).toEqual(
        wait(stage, 3_000),
      );
    }
    const greeted: readonly MachineEvent[] = [HAD, HELLO, { type: 'message', message: welcome }];
    expect(waitAfter(...greeted)).toEqual(wait('delivery', DELIVERY_DEADLINE_MS));
    expect(waitAfter(...greeted, { type: 'pushed', sentUpTo: 3 })).toEqual(wait('delivery', DELIVERY_DEADLINE_MS));
    const caughtUp: readonly MachineEvent[] = [...greeted, { type: 'message', message: delivery(2) }];
    expect(waitAfter(...caughtUp)).toBeNull();
    expect(waitAfter(...caughtUp, { type: 'pushed', sentUpTo: 3 })).toEqual(wait('outcome', OUTCOME_DEADLINE_MS));
    expect(waitAfter(failure('network-unreachable'))).toBeNull();
  });

  it('does not make the state offline as long as the server answers', () => {
    const { state } = after([
      { type: 'start' },
      HAD,
      HELLO,
      { type: 'message', message: { ...welcome, takeSnapshot: true } },
    ]);
    expect(syncReport(state, idle)).toMatchObject({ state: 'connecting', reason: null });
  });
});

describe('the reported state, from one attempt to the next', () => {
  /** The reported states, one after each event. */
  function statesOf(events: readonly (MachineEvent | number)[], pendingCount: number): string[] {
    const states: string[] = [];
    let nowMs = NOW_MS;
    let state = INITIAL_STATE;
    for (const event of events) {
      if (typeof event === 'number') nowMs += event;
      else {
        state = nextStep(state, event, { nowMs, wallMs: nowMs, random: 0.5 }).state;
        states.push(syncReport(state, { pendingCount, rejectedCount: 0 }).state);
      }
    }
    return states;
  }
  const unavailable: MachineEvent = {
    type: 'message',
    message: { type: 'failure', code: 'database-unavailable', fields: {} },
  };
  const again = (times: number, ...attempt: readonly MachineEvent[]): MachineEvent[] =>
    Array.from({ length: times }, () => attempt).flat();

  it('stays offline without a network, from the second failure on', () => {
    const states = statesOf(
      [{ type: 'start' }, ...again(4, failure('network-unreachable'), { type: 'try-now' }, HAD)],
      0,
    );
    expect(new Set(states.slice(4))).toEqual(new Set(['offline']));
    expect(new Set(states.slice(0, 4))).toEqual(new Set(['connecting', 'offline']));
  });

  it('stays unavailable if the server cannot open the database', () => {
    const states = statesOf(
      [{ type: 'start' }, HAD, HELLO, ...again(4, unavailable, { type: 'try-now' }, HAD, HELLO)],
      1,
    );
    expect(new Set(states.slice(3))).toEqual(new Set(['unavailable']));
  });

  it('stays unavailable if the server welcomes all clients and cannot store anything, and the attempts become rarer', () => {
    const attempt: readonly MachineEvent[] = [
      HAD,
      HELLO,
      { type: 'message', message: welcome },
      { type: 'message', message: delivery(2) },
      { type: 'applied' },
      { type: 'pushed', sentUpTo: 3 },
      unavailable,
    ];
    const states = statesOf([{ type: 'start' }, ...attempt, ...again(5, { type: 'try-now' }, ...attempt)], 1);
    expect(new Set(states.slice(attempt.length))).toEqual(new Set(['unavailable']));
    const delays = [1, 2, 4].map((times) => {
      const { state, nowMs } = after([
        { type: 'start' },
        ...attempt,
        ...again(times - 1, { type: 'try-now' }, ...attempt),
      ]);
      return (state.wakeAtMs ?? 0) - nowMs;
    });
    expect(delays).toEqual([375, 750, 3_000]);
    const { state } = after([{ type: 'start' }, ...attempt, { type: 'try-now' }, ...attempt.slice(0, -1)]);
    expect(syncReport(state, { pendingCount: 1, rejectedCount: 0 })).toMatchObject({
      state: 'unavailable',
      reason: { code: 'database-unavailable' },
    });
    // An outcome ends the failure.
    expect(
      syncReport(after([{ type: 'message', message: delivery(3) }], state).state, {
        pendingCount: 1,
        rejectedCount: 0,
      }),
    ).toMatchObject({ state: 'pushing', reason: null });
  });
});

describe('a wrong clock', () => {
  const report = (wallMs: number, serverNowMs: number): ReturnType<typeof syncReport> => {
    const { state } = after([...live, { type: 'message', message: delivery(2) }]);
    return syncReport(
      nextStep(state, { type: 'message', message: { type: 'pong', serverNowMs } }, { nowMs: NOW_MS, wallMs, random: 0 })
        .state,
      idle,
    );
  };

  it('is reported from one minute on, ahead or behind, even while connected [MR-05]', () => {
    expect(report(NOW_MS, NOW_MS - 60_000)).toMatchObject({ clockOffsetMs: 60_000, clockWrong: true });
    expect(report(NOW_MS, NOW_MS + 60_000)).toMatchObject({ clockOffsetMs: -60_000, clockWrong: true });
    expect(report(NOW_MS, NOW_MS - 59_999)).toMatchObject({ clockWrong: false });
  });
});

describe('a failure that repeats at one stage', () => {
  const cannotApply: MachineEvent = { type: 'apply-failed', error: new RockpoolError('internal').toData() };
  const times = (count: number, ...once: readonly MachineEvent[]): Step => {
    let state = after(live).state;
    let step: Step = { state, effects: [] };
    for (let i = 0; i < count; i++) {
      step = after(once, state);
      state = after([{ type: 'try-now' }, HAD, HELLO, { type: 'message', message: welcome }], step.state).state;
    }
    return step;
  };

  it('leads to a report at the second failure, a full resync at the third, and a new worker at the sixth', () => {
    const next = (count: number): unknown => syncReport(times(count, cannotApply).state, idle).stuck?.next;
    expect([1, 2, 3, 5, 6].map(next)).toEqual([undefined, 'reconnect', 'reload', 'reload', 'restart']);
    expect(syncReport(times(2, cannotApply).state, idle).stuck).toMatchObject({
      stage: 'apply',
      times: 2,
      error: { code: 'internal' },
    });
    expect([2, 3].map((count) => asksFullResync(times(count, cannotApply).state))).toEqual([false, true]);
    expect(times(5, cannotApply).effects).not.toContainEqual({ type: 'restart' });
    expect(times(6, cannotApply).effects).toContainEqual({ type: 'restart' });
  });

  it('leads to no full resync on a full device, which would have no room for it either', () => {
    const isFull: MachineEvent = { type: 'apply-failed', error: new RockpoolError('storage-full').toData() };
    expect([3, 7].map((count) => asksFullResync(times(count, isFull).state))).toEqual([false, false]);
    expect(syncReport(times(3, isFull).state, idle).stuck).toMatchObject({ stage: 'apply', next: 'reconnect' });
  });

  it('ends as soon as a delivery is written', () => {
    const { state } = after([{ type: 'applied' }], times(4, cannotApply).state);
    expect(syncReport(state, idle).stuck).toBeNull();
  });

  it('can be a delivery that does not arrive while the server answers, but not one that arrives in parts', () => {
    const part: MachineEvent = { type: 'message', message: { type: 'delivery-part', groups: [] } };
    const pong: MachineEvent = { type: 'message', message: { type: 'pong', serverNowMs: NOW_MS } };
    const late = after([...live, DELIVERY_DEADLINE_MS - 1, pong, 1, { type: 'wake' }]);
    expect(late.state).toMatchObject({
      phase: 'waiting',
      trouble: { fields: { stage: 'delivery' } },
      failing: { stage: 'delivery', times: 1 },
    });
    expect(after([...live, DELIVERY_DEADLINE_MS - 1, part, 1, { type: 'wake' }]).state.phase).toBe('live');
    expect(after([...live, part, DELIVERY_DEADLINE_MS, { type: 'wake' }]).state.phase).toBe('waiting');
  });

  it('resends a changeset until the server reports its outcome, and not afterwards', () => {
    const overdue = after([
      ...live,
      { type: 'message', message: delivery(2) },
      { type: 'pushed', sentUpTo: 3 },
      OUTCOME_DEADLINE_MS,
      { type: 'wake' },
    ]);
    const again = after(
      [
        { type: 'try-now' },
        HAD,
        HELLO,
        { type: 'message', message: welcome },
        { type: 'message', message: delivery(2) },
        { type: 'pushed', sentUpTo: 3 },
        OUTCOME_DEADLINE_MS,
        { type: 'wake' },
      ],
      overdue.state,
    );
    expect(syncReport(again.state, idle).stuck).toMatchObject({ stage: 'outcome', times: 2, next: 'resend' });
    expect(asksFullResync(again.state)).toBe(false);
    const decided = after(
      [
        { type: 'try-now' },
        HAD,
        HELLO,
        { type: 'message', message: welcome },
        { type: 'message', message: delivery(3) },
      ],
      again.state,
    );
    expect(syncReport(decided.state, idle).stuck).toBeNull();
  });

  it('requests a full resync at once if an audit could not repair the rows', () => {
    const { state } = after([...live, { type: 'diverged', error: new RockpoolError('replica-diverged').toData() }]);
    expect(asksFullResync(state)).toBe(true);
    expect(syncReport(state, idle).stuck).toMatchObject({ stage: 'audit', next: 'reload' });
  });
});

describe('a pause', () => {
  it('ends the connection, opens no new one, and is named in the status until it ends', () => {
    const paused = after([
      ...live,
      { type: 'pause' },
      { type: 'committed' },
      { type: 'try-now' },
      100_000,
      { type: 'wake' },
    ]);
    expect(paused.state).toMatchObject({ phase: 'paused', wakeAtMs: null });
    expect(syncReport(paused.state, { pendingCount: 2, rejectedCount: 0 })).toMatchObject({
      state: 'paused',
      pendingCount: 2,
      clockOffsetMs: 90,
    });
    expect(after([{ type: 'resume' }], paused.state).effects).toEqual([{ type: 'connect' }]);
  });
});
