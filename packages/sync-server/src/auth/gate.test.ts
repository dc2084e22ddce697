import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
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

describe.each([
  ['returns', (answer: unknown) => answer],
  ['resolves with', async (answer: unknown) => answer],
])('a host whose authorize %s', (_how, give) => {
  it.each([undefined, null, 1, 'editor', 'false', [], { allowed: true }])(
    '%j instead of a boolean allows nothing, and is logged',
    async (answer) => {
      const { gate, logged } = gateOf({ authorize: (() => give(answer)) as never });
      await expect(gate.require(PRINCIPAL, 'budget', 'read')).rejects.toMatchObject({
        code: 'auth-database-forbidden',
      });
      expect(new Set(logged.map(([event]) => event))).toEqual(new Set(['authorize-error']));
    },
  );
});

it.each([
  undefined,
  'ann',
  {},
  { id: 'ann' },
  { id: 7, expiresAtMs: Infinity },
  { id: 'ann', expiresAtMs: NaN },
  { id: 'ann', expiresAtMs: '2030-01-01' },
  { ...PRINCIPAL, databases: 'budget-2030' },
  { ...PRINCIPAL, databases: [7] },
  { ...PRINCIPAL, formerly: 'anonymous-7' },
  { ...PRINCIPAL, role: 'admin' },
])('a host whose authenticate resolves with %j instead of a principal admits nobody, and is logged', async (answer) => {
  const { gate, logged } = gateOf({ authenticate: async () => answer as never });
  await expect(gate.authenticate('token')).rejects.toMatchObject({ code: 'auth-token-invalid' });
  expect(logged.map(([event]) => event)).toEqual(['authenticate-error']);
});

it('a host may leave out, or return null for, what a principal need not have', async () => {
  const principal = { ...PRINCIPAL, name: null, databases: null, role: undefined, formerly: null };
  const { gate } = gateOf({ authenticate: async () => principal as never });
  const { name, databases, role, formerly } = await gate.authenticate('token');
  expect([name, databases, role, formerly]).toEqual([undefined, undefined, undefined, undefined]);
});

it('the checks of one message share the time, so that a client learns the reason', async () => {
  const authenticated = Promise.withResolvers<typeof PRINCIPAL>();
  const { gate, logged } = gateOf({ authenticate: () => authenticated.promise, authorize: never });
  const askedMs = performance.now();
  const admitted = async (): Promise<void> =>
    gate.require(await gate.authenticate('token', askedMs), 'budget', 'read', askedMs);
  const refused = admitted().catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(11_000);
  authenticated.resolve(PRINCIPAL);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(logged).toEqual([['check-unanswered', { check: 'authorize', withinMs: 12_000 }]]);
  expect(await refused).toMatchObject({ code: 'auth-unavailable' });
});
