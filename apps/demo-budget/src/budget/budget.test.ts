import { afterEach, describe, expect, it, vi } from 'vitest';
import { isDatabaseId, isShareKey, makeBudget } from './budget.ts';
import { deviceName } from './device.ts';
import type { DeviceItems } from './device-items.ts';
import { addBudget, currentBudget, knownBudgets, rememberJoined } from './known-budgets.ts';
import { fetchToken } from './token.ts';
import { acceptInvitation } from '../share/accept-invitation.ts';

function memoryItems(): DeviceItems {
  const items = new Map<string, string>();
  return { getItem: (name) => items.get(name) ?? null, setItem: (name, text) => void items.set(name, text) };
}

const linkTo = (budget: { databaseId: string; shareKey: string }): string =>
  `#budget=${budget.databaseId}&key=${budget.shareKey}`;

describe('the budget to open', () => {
  it('is created on the first visit and stays the same', () => {
    const items = memoryItems();
    const first = currentBudget('', items);
    expect(first.madeHere).toBe(true);
    expect(isDatabaseId(first.databaseId) && isShareKey(first.shareKey)).toBe(true);
    expect(currentBudget('', items)).toEqual(first);
    expect(currentBudget(linkTo(first), items)).toEqual(first);
  });

  it('is the budget of a link, even if this device did not create it', () => {
    const items = memoryItems();
    const own = currentBudget('', items);
    const other = makeBudget();
    expect(currentBudget(`${linkTo(other)}&page=reports`, items)).toEqual({ ...other, madeHere: false });
    expect(knownBudgets(items)).toEqual([{ ...other, madeHere: false }, own]);
    expect(currentBudget('', items).databaseId).toBe(other.databaseId);
  });

  it('is not taken from a malformed link or from an item that other code wrote', () => {
    const items = memoryItems();
    items.setItem('budgets', '[{"databaseId":"../x"},17,null]');
    expect(knownBudgets(items)).toEqual([]);
    const made = currentBudget('#budget=x&key=y', items);
    expect(made.madeHere).toBe(true);
    items.setItem('budgets', '{');
    expect(knownBudgets(items)).toEqual([]);
  });

  it('keeps its key if it was created here, whatever key a link has', () => {
    const items = memoryItems();
    const own = currentBudget('', items);
    expect(currentBudget(linkTo({ ...makeBudget(), databaseId: own.databaseId }), items)).toEqual(own);
  });

  it('keeps its key if it was created here, even if the user accepts an invitation to it', () => {
    const items = memoryItems();
    const own = currentBudget('', items);
    addBudget(items);
    const membership = { principal: 'person-1', role: 'viewer' } as const;
    const joined = { ...makeBudget(), madeHere: false, membership };
    expect(rememberJoined(items, { ...joined, databaseId: own.databaseId })).toEqual(own);
    expect(currentBudget('', items)).toEqual(own);
    expect(rememberJoined(items, joined)).toEqual(joined);
    expect(currentBudget('', items)).toEqual(joined);
  });

  it('can be added to a device that has other budgets', () => {
    const items = memoryItems();
    const first = currentBudget('', items);
    const second = addBudget(items);
    expect(knownBudgets(items)).toEqual([second, first]);
  });
});

it('an invitation is not used up by a browser that stores nothing', async () => {
  const asked: string[] = [];
  vi.stubGlobal('fetch', (path: string) => {
    asked.push(path);
    return Promise.resolve(Response.json({}));
  });
  vi.stubGlobal('indexedDB', {
    open: () => {
      throw new DOMException('refused', 'SecurityError');
    },
  });
  await expect(acceptInvitation('code', 'Ann')).rejects.toThrow('refused');
  expect(asked).toEqual([]);
});

describe('the device name', () => {
  it('is stable', () => {
    const items = memoryItems();
    expect(deviceName(items)).toBe(deviceName(items));
    expect(deviceName(items)).not.toBe(deviceName(memoryItems()));
  });
});

describe('fetching a token', () => {
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  function serverAnswers(answers: Readonly<Record<string, Response>>): string[] {
    const asked: string[] = [];
    vi.stubGlobal('fetch', (path: string) => {
      asked.push(path);
      return Promise.resolve(answers[path]);
    });
    return asked;
  }

  const budget = makeBudget();

  it('requests one with the share key', async () => {
    const asked = serverAnswers({ '/api/token': Response.json({ token: 't' }) });
    await expect(fetchToken({ ...budget, madeHere: false }, 'device-1', '')).resolves.toBe('t');
    expect(asked).toEqual(['/api/token']);
  });

  it('registers a budget that was created here with the same request', async () => {
    const asked = serverAnswers({ '/api/budgets': Response.json({ token: 't' }, { status: 201 }) });
    await expect(fetchToken({ ...budget, madeHere: true }, 'device-1', '')).resolves.toBe('t');
    expect(asked).toEqual(['/api/budgets']);
  });

  it('does not register a budget that was opened by link', async () => {
    const asked = serverAnswers({ '/api/token': new Response(null, { status: 404 }) });
    await expect(fetchToken({ ...budget, madeHere: false }, 'device-1', '')).rejects.toMatchObject({
      code: 'database-unavailable',
    });
    expect(asked).toEqual(['/api/token']);
  });

  it.each([
    [403, 'auth-database-forbidden'],
    [500, 'network-unreachable'],
  ])('maps a refusal with status %i to a reason', async (status, code) => {
    serverAnswers({ '/api/token': new Response(null, { status }) });
    await expect(fetchToken({ ...budget, madeHere: false }, 'device-1', '')).rejects.toMatchObject({ code });
  });

  it.each([
    [200, 'editor'],
    [403, 'removed'],
  ])('reports a member’s role after a response with status %i', async (status, access) => {
    serverAnswers({ '/api/token': Response.json({ token: 't', role: 'editor' }, { status }) });
    const heard: string[] = [];
    const member = { ...budget, madeHere: false, membership: { principal: 'ben', role: 'viewer' } } as const;
    await fetchToken(member, 'device-1', '', (known) => heard.push(known)).catch(() => undefined);
    expect(heard).toEqual([access]);
  });

  it('reports the role and principal of a member who opened a personal link', async () => {
    serverAnswers({ '/api/token': Response.json({ token: 't', role: 'viewer', principal: 'person-1' }) });
    const heard: unknown[] = [];
    await fetchToken({ ...budget, madeHere: false }, 'device-1', '', (...known) => heard.push(...known));
    expect(heard).toEqual(['viewer', 'person-1']);
  });

  it('reports that the server is unreachable', async () => {
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')));
    await expect(fetchToken({ ...budget, madeHere: true }, 'device-1', '')).rejects.toMatchObject({
      code: 'network-unreachable',
    });
  });

  it('rejects a response without a token', async () => {
    serverAnswers({ '/api/token': Response.json({}) });
    await expect(fetchToken({ ...budget, madeHere: false }, 'device-1', '')).rejects.toMatchObject({
      code: 'token-callback-failed',
    });
  });
});
