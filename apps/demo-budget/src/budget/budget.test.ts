import { afterEach, describe, expect, it, vi } from 'vitest';
import { isDatabaseId, isShareKey, makeBudget } from './budget.ts';
import { deviceName } from './device.ts';
import { addBudget, currentBudget, knownBudgets } from './known-budgets.ts';
import { fetchToken } from './token.ts';

function memoryStorage(): Storage {
  const items = new Map<string, string>();
  return {
    get length() {
      return items.size;
    },
    clear: () => items.clear(),
    getItem: (key) => items.get(key) ?? null,
    key: (index) => [...items.keys()][index] ?? null,
    removeItem: (key) => void items.delete(key),
    setItem: (key, value) => void items.set(key, value),
  };
}

const linkTo = (budget: { databaseId: string; shareKey: string }): string => `#budget=${budget.databaseId}&key=${budget.shareKey}`;

describe('the budget to open', () => {
  it('is made on the first visit and the same from then on', () => {
    const storage = memoryStorage();
    const first = currentBudget('', storage);
    expect(first.madeHere).toBe(true);
    expect(isDatabaseId(first.databaseId) && isShareKey(first.shareKey)).toBe(true);
    expect(currentBudget('', storage)).toEqual(first);
    expect(currentBudget(linkTo(first), storage)).toEqual(first);
  });

  it('is the one of a link, which this device did not make', () => {
    const storage = memoryStorage();
    const own = currentBudget('', storage);
    const other = makeBudget();
    expect(currentBudget(`${linkTo(other)}&page=reports`, storage)).toEqual({ ...other, madeHere: false });
    expect(knownBudgets(storage)).toEqual([{ ...other, madeHere: false }, own]);
    expect(currentBudget('', storage).databaseId).toBe(other.databaseId);
  });

  it('is not taken from a malformed link or from storage that someone else wrote', () => {
    const storage = memoryStorage();
    storage.setItem('rockpool-demo.budgets', '[{"databaseId":"../x"},17,null]');
    expect(knownBudgets(storage)).toEqual([]);
    const made = currentBudget('#budget=x&key=y', storage);
    expect(made.madeHere).toBe(true);
    storage.setItem('rockpool-demo.budgets', '{');
    expect(knownBudgets(storage)).toEqual([]);
  });

  it('keeps its key when it was made here, whatever a link says', () => {
    const storage = memoryStorage();
    const own = currentBudget('', storage);
    expect(currentBudget(linkTo({ ...makeBudget(), databaseId: own.databaseId }), storage)).toEqual(own);
  });

  it('can be added beside others', () => {
    const storage = memoryStorage();
    const first = currentBudget('', storage);
    const second = addBudget(storage);
    expect(knownBudgets(storage)).toEqual([second, first]);
  });
});

describe('the name of a device', () => {
  it('stays', () => {
    const storage = memoryStorage();
    expect(deviceName(storage)).toBe(deviceName(storage));
    expect(deviceName(storage)).not.toBe(deviceName(memoryStorage()));
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

  it('asks for one by the share key', async () => {
    const asked = serverAnswers({ '/api/token': Response.json({ token: 't' }) });
    await expect(fetchToken({ ...budget, madeHere: true }, 'device-1')).resolves.toBe('t');
    expect(asked).toEqual(['/api/token']);
  });

  it('registers a budget that was made here and that the server does not know', async () => {
    const asked = serverAnswers({ '/api/token': new Response(null, { status: 404 }), '/api/budgets': Response.json({ token: 't' }) });
    await expect(fetchToken({ ...budget, madeHere: true }, 'device-1')).resolves.toBe('t');
    expect(asked).toEqual(['/api/token', '/api/budgets']);
  });

  it('does not register a budget that came by a link', async () => {
    const asked = serverAnswers({ '/api/token': new Response(null, { status: 404 }) });
    await expect(fetchToken({ ...budget, madeHere: false }, 'device-1')).rejects.toMatchObject({ code: 'database-unavailable' });
    expect(asked).toEqual(['/api/token']);
  });

  it.each([
    [403, 'auth-database-forbidden'],
    [500, 'database-unavailable'],
  ])('says what a refusal with status %i means', async (status, code) => {
    serverAnswers({ '/api/token': new Response(null, { status }) });
    await expect(fetchToken({ ...budget, madeHere: true }, 'device-1')).rejects.toMatchObject({ code });
  });

  it('says that the server cannot be reached', async () => {
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')));
    await expect(fetchToken({ ...budget, madeHere: true }, 'device-1')).rejects.toMatchObject({ code: 'network-unreachable' });
  });

  it('does not take an answer without a token', async () => {
    serverAnswers({ '/api/token': Response.json({}) });
    await expect(fetchToken({ ...budget, madeHere: true }, 'device-1')).rejects.toMatchObject({ code: 'database-unavailable' });
  });
});
