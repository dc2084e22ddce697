import { RockpoolError, type ErrorCode, type ServerMessage } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import { testDelivery, testWelcome } from '../testing/sync-steps.ts';
import { NEXT_BYTES_TIMEOUT_MS } from './snapshot-wait.ts';
import { INITIAL_STATE, nextStep, type MachineEvent, type MachineState } from './sync-machine.ts';

const NOW_MS = 1_700_000_000_000;
const LONG_MS = 60_000;

const error = (code: ErrorCode): ReturnType<RockpoolError['toData']> => new RockpoolError(code).toData();
const message = (said: ServerMessage): MachineEvent => ({ type: 'message', message: said });
const had: MachineEvent = { type: 'token-had' };
const hello: MachineEvent = { type: 'hello-sent', lastAckedSequence: 2 };
const welcome = testWelcome({ lastAckedSequence: 2, serverNowMs: NOW_MS });
const delivery = testDelivery({ lastAckedSequence: 2 });

function after(...events: readonly MachineEvent[]): MachineState {
  return events.reduce((state, event) => nextStep(state, event, { nowMs: NOW_MS, wallMs: NOW_MS, random: 0.5 }).state, INITIAL_STATE);
}

/** Every phase, and within `live` all that changes what an event means. */
const STATES = {
  stopped: after(),
  paused: after({ type: 'start' }, { type: 'pause' }),
  waiting: after({ type: 'start' }, { type: 'failed', error: error('network-unreachable') }),
  authorizing: after({ type: 'start' }),
  connecting: after({ type: 'start' }, had),
  greeting: after({ type: 'start' }, had, hello),
  fetching: after({ type: 'start' }, had, hello, message({ ...welcome, takeSnapshot: true })),
  'catching up': after({ type: 'start' }, had, hello, message(welcome)),
  live: after({ type: 'start' }, had, hello, message(welcome), message(delivery)),
  isResyncing: after({ type: 'start' }, had, hello, message({ ...welcome, fullResync: true })),
  copied: after({ type: 'start' }, had, hello, message(welcome), { type: 'copied' }),
  'read only': after({ type: 'start' }, had, hello, message({ ...welcome, canWrite: false }), message(delivery)),
  'awaiting outcomes': after({ type: 'start' }, had, hello, message({ ...welcome, lastAckedSequence: 3 })),
  'failing often': after({ type: 'start' }, ...Array.from({ length: 5 }, () => [had, hello, message(welcome), { type: 'apply-failed', error: error('internal') }, { type: 'try-now' }] as const).flat(), had, hello, message(welcome)),
} satisfies Record<string, MachineState>;

type EventName = Exclude<MachineEvent['type'], 'message'> | ServerMessage['type'];

const EVENTS: Readonly<Record<EventName, MachineEvent>> = {
  start: { type: 'start' },
  stop: { type: 'stop' },
  pause: { type: 'pause' },
  resume: { type: 'resume' },
  'try-now': { type: 'try-now' },
  wake: { type: 'wake' },
  'token-had': had,
  'hello-sent': hello,
  failed: { type: 'failed', error: error('network-unreachable') },
  'apply-failed': { type: 'apply-failed', error: error('internal') },
  applied: { type: 'applied' },
  diverged: { type: 'diverged', error: error('replica-diverged') },
  committed: { type: 'committed' },
  pushed: { type: 'pushed', sentUpTo: 3 },
  copied: { type: 'copied' },
  renumbered: { type: 'renumbered' },
  'snapshot-progress': { type: 'snapshot-progress', wait: { stage: 'snapshot-download', withinMs: NEXT_BYTES_TIMEOUT_MS } },
  'snapshot-taken': { type: 'snapshot-taken' },
  welcome: message(welcome),
  delivery: message(delivery),
  'delivery-part': message({ type: 'delivery-part', groups: [] }),
  failure: message({ type: 'failure', code: 'auth-token-expired', fields: {} }),
  pong: message({ type: 'pong', serverNowMs: NOW_MS }),
  'audit-answer': message({ type: 'audit-answer', cursor: 1, compared: true, differing: [], groups: [] }),
  'presence-update': message({ type: 'presence-update', whole: true, seen: [] }),
};

/** The next phase and the effects, in order; `-`: the phase stays and nothing is done. `wake` comes when every deadline is over. */
const TABLE: Readonly<Record<EventName, Readonly<Record<keyof typeof STATES, string>>>> = {
  start: { stopped: 'authorizing connect', paused: '-', waiting: '-', authorizing: '-', connecting: '-', greeting: '-', fetching: '-', 'catching up': '-', live: '-', isResyncing: '-', copied: '-', 'read only': '-', 'awaiting outcomes': '-', 'failing often': '-' },
  stop: { stopped: 'stopped disconnect', paused: 'stopped disconnect', waiting: 'stopped disconnect', authorizing: 'stopped disconnect', connecting: 'stopped disconnect', greeting: 'stopped disconnect', fetching: 'stopped disconnect', 'catching up': 'stopped disconnect', live: 'stopped disconnect', isResyncing: 'stopped disconnect', copied: 'stopped disconnect', 'read only': 'stopped disconnect', 'awaiting outcomes': 'stopped disconnect', 'failing often': 'stopped disconnect' },
  pause: { stopped: 'paused disconnect', paused: 'paused disconnect', waiting: 'paused disconnect', authorizing: 'paused disconnect', connecting: 'paused disconnect', greeting: 'paused disconnect', fetching: 'paused disconnect', 'catching up': 'paused disconnect', live: 'paused disconnect', isResyncing: 'paused disconnect', copied: 'paused disconnect', 'read only': 'paused disconnect', 'awaiting outcomes': 'paused disconnect', 'failing often': 'paused disconnect' },
  resume: { stopped: '-', paused: 'authorizing connect', waiting: '-', authorizing: '-', connecting: '-', greeting: '-', fetching: '-', 'catching up': '-', live: '-', isResyncing: '-', copied: '-', 'read only': '-', 'awaiting outcomes': '-', 'failing often': '-' },
  'try-now': { stopped: '-', paused: '-', waiting: 'authorizing connect', authorizing: '-', connecting: '-', greeting: '-', fetching: '-', 'catching up': '-', live: '-', isResyncing: '-', copied: '-', 'read only': '-', 'awaiting outcomes': '-', 'failing often': '-' },
  wake: { stopped: '-', paused: '-', waiting: 'authorizing connect', authorizing: 'waiting disconnect', connecting: 'waiting disconnect', greeting: 'waiting disconnect', fetching: 'authorizing give-up-snapshot disconnect connect', 'catching up': 'waiting disconnect', live: 'waiting disconnect', isResyncing: 'waiting disconnect', copied: 'waiting disconnect', 'read only': 'waiting disconnect', 'awaiting outcomes': 'waiting disconnect', 'failing often': 'waiting disconnect' },
  'token-had': { stopped: '-', paused: '-', waiting: '-', authorizing: 'connecting', connecting: '-', greeting: '-', fetching: '-', 'catching up': '-', live: '-', isResyncing: '-', copied: '-', 'read only': '-', 'awaiting outcomes': '-', 'failing often': '-' },
  'hello-sent': { stopped: '-', paused: '-', waiting: '-', authorizing: '-', connecting: 'greeting', greeting: '-', fetching: '-', 'catching up': '-', live: '-', isResyncing: '-', copied: '-', 'read only': '-', 'awaiting outcomes': '-', 'failing often': '-' },
  failed: { stopped: '-', paused: '-', waiting: '-', authorizing: 'waiting disconnect', connecting: 'waiting disconnect', greeting: 'waiting disconnect', fetching: 'waiting disconnect', 'catching up': 'waiting disconnect', live: 'waiting disconnect', isResyncing: 'waiting disconnect', copied: 'waiting disconnect', 'read only': 'waiting disconnect', 'awaiting outcomes': 'waiting disconnect', 'failing often': 'waiting disconnect' },
  'apply-failed': { stopped: '-', paused: '-', waiting: '-', authorizing: '-', connecting: '-', greeting: '-', fetching: '-', 'catching up': 'waiting disconnect', live: 'waiting disconnect', isResyncing: 'waiting disconnect', copied: 'waiting disconnect', 'read only': 'waiting disconnect', 'awaiting outcomes': 'waiting disconnect', 'failing often': 'waiting disconnect restart' },
  applied: { stopped: '-', paused: '-', waiting: '-', authorizing: '-', connecting: '-', greeting: '-', fetching: '-', 'catching up': '-', live: '-', isResyncing: '-', copied: '-', 'read only': '-', 'awaiting outcomes': '-', 'failing often': '-' },
  diverged: { stopped: '-', paused: '-', waiting: '-', authorizing: '-', connecting: '-', greeting: '-', fetching: '-', 'catching up': 'waiting disconnect', live: 'waiting disconnect', isResyncing: 'waiting disconnect', copied: 'waiting disconnect', 'read only': 'waiting disconnect', 'awaiting outcomes': 'waiting disconnect', 'failing often': 'waiting disconnect' },
  committed: { stopped: '-', paused: '-', waiting: '-', authorizing: '-', connecting: '-', greeting: '-', fetching: '-', 'catching up': 'live push', live: 'live push', isResyncing: '-', copied: '-', 'read only': '-', 'awaiting outcomes': '-', 'failing often': 'live push' },
  pushed: { stopped: '-', paused: '-', waiting: '-', authorizing: '-', connecting: '-', greeting: '-', fetching: '-', 'catching up': '-', live: '-', isResyncing: '-', copied: '-', 'read only': '-', 'awaiting outcomes': '-', 'failing often': '-' },
  copied: { stopped: '-', paused: '-', waiting: '-', authorizing: '-', connecting: '-', greeting: '-', fetching: '-', 'catching up': '-', live: '-', isResyncing: '-', copied: '-', 'read only': '-', 'awaiting outcomes': '-', 'failing often': '-' },
  renumbered: { stopped: '-', paused: '-', waiting: 'authorizing disconnect connect', authorizing: 'authorizing disconnect connect', connecting: 'authorizing disconnect connect', greeting: 'authorizing disconnect connect', fetching: 'authorizing disconnect connect', 'catching up': 'authorizing disconnect connect', live: 'authorizing disconnect connect', isResyncing: 'authorizing disconnect connect', copied: 'authorizing disconnect connect', 'read only': 'authorizing disconnect connect', 'awaiting outcomes': 'authorizing disconnect connect', 'failing often': 'authorizing disconnect connect' },
  'snapshot-progress': { stopped: '-', paused: '-', waiting: '-', authorizing: '-', connecting: '-', greeting: '-', fetching: '-', 'catching up': '-', live: '-', isResyncing: '-', copied: '-', 'read only': '-', 'awaiting outcomes': '-', 'failing often': '-' },
  'snapshot-taken': { stopped: '-', paused: '-', waiting: '-', authorizing: '-', connecting: '-', greeting: '-', fetching: 'authorizing connect', 'catching up': '-', live: '-', isResyncing: '-', copied: '-', 'read only': '-', 'awaiting outcomes': '-', 'failing often': '-' },
  welcome: { stopped: '-', paused: '-', waiting: '-', authorizing: 'waiting disconnect', connecting: 'waiting disconnect', greeting: 'live welcome push', fetching: 'waiting disconnect', 'catching up': 'waiting disconnect', live: 'waiting disconnect', isResyncing: 'waiting disconnect', copied: 'waiting disconnect', 'read only': 'waiting disconnect', 'awaiting outcomes': 'waiting disconnect', 'failing often': 'waiting disconnect' },
  delivery: { stopped: '-', paused: '-', waiting: '-', authorizing: 'waiting disconnect', connecting: 'waiting disconnect', greeting: 'waiting disconnect', fetching: 'waiting disconnect', 'catching up': 'live apply', live: 'live apply', isResyncing: 'waiting disconnect', copied: '-', 'read only': 'live apply', 'awaiting outcomes': 'live apply push', 'failing often': 'live apply' },
  'delivery-part': { stopped: '-', paused: '-', waiting: '-', authorizing: 'waiting disconnect', connecting: 'waiting disconnect', greeting: 'waiting disconnect', fetching: 'waiting disconnect', 'catching up': 'live stage', live: 'live stage', isResyncing: 'live stage', copied: '-', 'read only': 'live stage', 'awaiting outcomes': 'live stage', 'failing often': 'live stage' },
  failure: { stopped: '-', paused: '-', waiting: '-', authorizing: 'waiting disconnect', connecting: 'waiting disconnect', greeting: 'waiting disconnect', fetching: 'waiting disconnect', 'catching up': 'waiting disconnect', live: 'waiting disconnect', isResyncing: 'waiting disconnect', copied: 'waiting disconnect', 'read only': 'waiting disconnect', 'awaiting outcomes': 'waiting disconnect', 'failing often': 'waiting disconnect' },
  pong: { stopped: '-', paused: '-', waiting: '-', authorizing: 'waiting disconnect', connecting: 'waiting disconnect', greeting: 'waiting disconnect', fetching: 'waiting disconnect', 'catching up': 'live note-server-time', live: 'live note-server-time', isResyncing: 'live note-server-time', copied: 'live note-server-time', 'read only': 'live note-server-time', 'awaiting outcomes': 'live note-server-time', 'failing often': 'live note-server-time' },
  'audit-answer': { stopped: '-', paused: '-', waiting: '-', authorizing: 'waiting disconnect', connecting: 'waiting disconnect', greeting: 'waiting disconnect', fetching: 'waiting disconnect', 'catching up': 'live audit-answer', live: 'live audit-answer', isResyncing: 'live audit-answer', copied: 'live audit-answer', 'read only': 'live audit-answer', 'awaiting outcomes': 'live audit-answer', 'failing often': 'live audit-answer' },
  'presence-update': { stopped: '-', paused: '-', waiting: '-', authorizing: 'waiting disconnect', connecting: 'waiting disconnect', greeting: 'waiting disconnect', fetching: 'waiting disconnect', 'catching up': 'live presence', live: 'live presence', isResyncing: 'live presence', copied: 'live presence', 'read only': 'live presence', 'awaiting outcomes': 'live presence', 'failing often': 'live presence' },
};

describe('the sync machine, every event in every state', () => {
  for (const [eventName, row] of Object.entries(TABLE)) {
    for (const [stateName, expected] of Object.entries(row)) {
      it(`${eventName} while ${stateName}: ${expected}`, () => {
        const before = STATES[stateName as keyof typeof STATES];
        const event = EVENTS[eventName as EventName];
        const nowMs = eventName === 'wake' ? NOW_MS + LONG_MS : NOW_MS;
        const { state, effects } = nextStep(before, event, { nowMs, wallMs: nowMs, random: 0.5 });
        const happened = [state.phase, ...effects.map(({ type }) => type)].join(' ');
        expect(happened).toBe(expected === '-' ? before.phase : expected);
        expect(state.wakeAtMs === null).toBe(state.phase === 'stopped' || state.phase === 'paused');
      });
    }
  }
});
