import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { LogFields } from '../observe/log-line.ts';
import { Gate } from './gate.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const PRINCIPAL = { id: 'ann', expiresAtMs: Infinity };
const never = (): Promise<never> => new Promise(() => undefined);

function gateOf(checks: Partial<ConstructorParameters<typeof Gate>[0]>): { gate: Gate; logged: [string, LogFields][] } {
  const logged: [string, LogFields][] = [];
  const gate = new Gate({
    authenticate: async () => PRINCIPAL,
    authorize: () => true,
    now: () => 0,
    log: (event, fields) => void logged.push([event, fields]),
    ...checks,
  });
  return { gate, logged };
}

it.each([
  ['authenticate', { authenticate: never }, (gate: Gate) => gate.authenticate('token')],
  ['authorize', { authorize: never }, (gate: Gate) => gate.require(PRINCIPAL, 'budget', 'read')],
] as const)(
  'a host whose %s does not answer within 12 s is logged, and the client tries again',
  async (check, checks, ask) => {
    const { gate, logged } = gateOf(checks);
    const refused = ask(gate).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(11_999);
    expect(logged).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(await refused).toMatchObject({ code: 'auth-unavailable', fields: { check, withinMs: 12_000 } });
    expect(logged).toEqual([['check-unanswered', { check, withinMs: 12_000 }]]);
  },
);

it('a host that answers leaves no timer', async () => {
  const { gate, logged } = gateOf({ authorize: async () => true });
  await gate.authenticate('token');
  await gate.require(PRINCIPAL, 'budget', 'read');
  expect([vi.getTimerCount(), logged]).toEqual([0, []]);
});

it.each([undefined, null, 1, 'editor', { allowed: true }])(
  'a host whose authorize returns %j instead of a boolean or a promise allows nothing, and is logged',
  async (answer) => {
    const { gate, logged } = gateOf({ authorize: (() => answer) as never });
    await expect(gate.require(PRINCIPAL, 'budget', 'read')).rejects.toMatchObject({ code: 'auth-database-forbidden' });
    expect(logged.map(([event]) => event)).toEqual(['authorize-error']);
  },
);
