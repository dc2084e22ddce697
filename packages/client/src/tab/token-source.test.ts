import { RockpoolError } from '@rockpool/shared';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { TokenAnswer } from '../interface/client-options.ts';
import { createTokenSource, type TokenSession } from './token-source.ts';

const TOKEN = 'eyJh.eyJz.c2ln';

/** A session that reports problems by this function; `close` closes it. */
function sessionThat(report: (error: RockpoolError) => void): TokenSession & { close(): void } {
  const ends: (() => void)[] = [];
  return {
    onProblem: report,
    beforeClose: (onEnd) => void ends.push(onEnd),
    close: () => ends.forEach((end) => end()),
  };
}

async function asked(token: () => unknown): Promise<{ readonly outcome: unknown; readonly told: RockpoolError[] }> {
  const told: RockpoolError[] = [];
  const source = createTokenSource(
    { token: token as () => TokenAnswer },
    sessionThat((error) => told.push(error)),
  );
  const outcome = await source().catch((thrown: RockpoolError) => `${thrown.code} ${JSON.stringify(thrown.fields)}`);
  return { outcome, told };
}

const throwing = (thrown: unknown) => (): never => {
  throw thrown;
};
const named = (name: string, message: string, more: object = {}): Error =>
  Object.assign(new Error(message), { name, ...more });

afterEach(() => void vi.useRealTimers());

describe('the token', () => {
  it('is the string that the callback returns or resolves to, or the text of its response', async () => {
    for (const token of [
      () => TOKEN,
      async () => TOKEN,
      async () => new Response(`${TOKEN}\n`),
      () => 'opaque+of/our~own==',
    ]) {
      expect(await asked(token)).toEqual({ outcome: expect.stringMatching(/^(eyJh|opaque)\S+$/) as string, told: [] });
    }
  });

  it.each<[string, () => unknown, object]>([
    ['null', () => null, {}],
    ['a response of 401', async () => new Response('no', { status: 401 }), { status: 401 }],
    ['a thrown response of 403', throwing(new Response('no', { status: 403 })), { status: 403 }],
    ['an error with the status 401', throwing(Object.assign(new Error('no'), { status: 401 })), { status: 401 }],
    [
      'an error of axios with the status 401',
      throwing(named('AxiosError', 'Request failed', { code: 'ERR_BAD_REQUEST', response: { status: 401 } })),
      { status: 401 },
    ],
  ])('reports that no user is signed in: %s', async (_, token, fields) => {
    expect(await asked(token)).toEqual({
      outcome: `auth-signed-out ${JSON.stringify({ stage: 'token', ...fields })}`,
      told: [],
    });
  });

  it.each<[string, () => unknown, object]>([
    ['Chromium', throwing(new TypeError('Failed to fetch')), {}],
    ['Chromium, which names the host', throwing(new TypeError('Failed to fetch (app.example.org)')), {}],
    ['Firefox', throwing(new TypeError('NetworkError when attempting to fetch resource.')), {}],
    ['Safari', throwing(new TypeError('Load failed')), {}],
    ['a wrapped failure', throwing(new Error('no token', { cause: new TypeError('Load failed') })), {}],
    ['a deadline of the app', throwing(new DOMException('signal timed out', 'TimeoutError')), {}],
    ['axios', throwing(named('AxiosError', 'Network Error', { code: 'ERR_NETWORK' })), {}],
    ['a response of 502', async () => new Response('<html>', { status: 502 }), { status: 502 }],
    ['a thrown response of 503', throwing(new Response('', { status: 503 })), { status: 503 }],
    [
      'the start page of the app, for every path',
      async () => new Response('\n<!DOCTYPE html>\n<html><body></body></html>'),
      { problem: 'the response is an HTML page' },
    ],
    ['an error page as text', () => '<html>Bad Gateway</html>', { problem: 'the response is an HTML page' }],
    [
      'an error with the status 429',
      throwing(Object.assign(new Error('slower'), { statusCode: 429 })),
      { status: 429 },
    ],
  ])('reports an unreachable server: %s', async (_, token, fields) => {
    expect(await asked(token)).toEqual({
      outcome: `network-unreachable ${JSON.stringify({ stage: 'token', ...fields })}`,
      told: [],
    });
  });

  it.each<[string, () => unknown, object]>([
    [
      'a fault in its code',
      throwing(new TypeError("Cannot read properties of undefined (reading 'token')")),
      { thrown: 'TypeError' },
    ],
    ['a string that is thrown', throwing('Failed to fetch'), { thrown: 'string' }],
    ['a response of 404', async () => new Response('', { status: 404 }), { thrown: 'object', status: 404 }],
    ['no return value', () => undefined, { problem: 'the token is not a string', type: 'undefined' }],
    ['an object', () => ({ token: TOKEN }), { problem: 'the token is not a string', type: 'object' }],
    ['an array', () => [TOKEN], { problem: 'the token is not a string', type: 'array' }],
    ['an empty string', () => '', { problem: 'the token is empty' }],
    ['a sentence', () => 'no such user', { problem: 'the token is not a bearer token', characters: 12 }],
    [
      'JSON',
      async () => Response.json({ token: TOKEN }),
      { problem: 'the token is not a bearer token', characters: 26 },
    ],
  ])('reports a failure of the app: %s', async (_, token, fields) => {
    const { outcome, told } = await asked(token);
    expect(outcome).toBe(`token-callback-failed ${JSON.stringify({ stage: 'token', ...fields })}`);
    expect(told).toMatchObject([{ code: 'token-callback-failed', recovery: 'bug' }]);
  });

  it.each<[string, () => unknown]>([
    ['the callback does not settle', () => new Promise(() => undefined)],
    ['the text of the response does not arrive', () => new Response(new ReadableStream())],
  ])('counts as unreachable after 15 s if %s', async (_, token) => {
    vi.useFakeTimers();
    const asking = asked(token);
    await vi.advanceTimersByTimeAsync(15_000);
    vi.useRealTimers();
    expect(await asking).toEqual({
      outcome: `network-unreachable ${JSON.stringify({ stage: 'token', waitedMs: 15_000 })}`,
      told: [],
    });
  });

  it('is awaited no longer once the client closes, which leaves no timer', async () => {
    vi.useFakeTimers();
    const session = sessionThat(() => undefined);
    let calls = 0;
    const source = createTokenSource({ token: () => (calls++, new Promise(() => undefined)) }, session);
    const outcomes: unknown[] = [];
    void source().catch((error: unknown) => outcomes.push(error));
    session.close();
    void source().catch((error: unknown) => outcomes.push(error));
    await vi.advanceTimersByTimeAsync(0);
    const unreachable = { code: 'network-unreachable', fields: { stage: 'token' } };
    expect(outcomes).toMatchObject([unreachable, unreachable]);
    expect([calls, vi.getTimerCount()]).toEqual([1, 0]);
  });

  it('omits the message of the thrown error and keeps the error as the cause', async () => {
    const thrown = new TypeError('secret');
    const { outcome, told } = await asked(throwing(thrown));
    expect(outcome).not.toContain('secret');
    expect(told[0]?.message).not.toContain('secret');
    expect(told[0]?.cause).toBe(thrown);
  });

  it('reports a failure once, and again after a success or a different failure', async () => {
    const told: RockpoolError[] = [];
    let answer: () => TokenAnswer = throwing(new TypeError('one'));
    const source = createTokenSource(
      { token: () => answer() },
      sessionThat((error) => told.push(error)),
    );
    const times = async (count: number): Promise<number> => {
      for (let i = 0; i < count; i++) await source().catch(() => undefined);
      return told.length;
    };
    expect(await times(3)).toBe(1);
    answer = throwing(new TypeError('two'));
    expect(await times(2)).toBe(2);
    answer = () => TOKEN;
    await times(1);
    answer = throwing(new TypeError('two'));
    expect(await times(2)).toBe(3);
  });

  it('rejects with the RockpoolError that the callback throws', async () => {
    expect(await asked(throwing(new RockpoolError('auth-database-forbidden')))).toEqual({
      outcome: 'auth-database-forbidden {}',
      told: [],
    });
  });
});
