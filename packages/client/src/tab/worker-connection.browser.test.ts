import { RockpoolError } from '@rockpool/shared';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { commands } from 'vitest/browser';
import { connectWorker, type WorkerConnection } from './worker-connection.ts';

const closed = new RockpoolError('client-closed');
const connections: WorkerConnection[] = [];

function connect(script: string): { readonly connection: WorkerConnection; readonly problems: RockpoolError[] } {
  const problems: RockpoolError[] = [];
  const url = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
  const connection = connectWorker({ worker: new Worker(url, { type: 'module' }), url }, (error) =>
    problems.push(error),
  );
  connections.push(connection);
  return { connection, problems };
}

function connectTo(url: string): WorkerConnection {
  const connection = connectWorker({ worker: new Worker(url, { type: 'module' }), url }, () => undefined);
  connections.push(connection);
  return connection;
}

/** Answers calls like Comlink. */
const answering = (which: string): string =>
  `addEventListener('message', ({ data }) => { if (data.type === 'APPLY' && ${which}) postMessage({ id: data.id, type: 'RAW', value: 'answer' }); });`;
const ANSWERING = answering('true');
const ANSWERING_PINGS = answering(`data.path[0] === 'ping'`);

const query = (connection: WorkerConnection): Promise<unknown> =>
  connection.call((worker) => worker.query({ sql: 'SELECT 1', params: [] }));

afterEach(async () => {
  vi.restoreAllMocks();
  for (const connection of connections.splice(0)) connection.end(closed);
  await commands.endFailures();
});

describe('a call into the worker', () => {
  it('resolves with the result', async () => {
    expect(await query(connect(ANSWERING).connection)).toBe('answer');
  });

  it('rejects if the script throws at its start, and rejects later calls too', async () => {
    const scripts = [
      ['this is not JavaScript', 'worker-unloadable'],
      [`import './nowhere.js';`, 'worker-unloadable'],
      [`throw new Error('at the start')`, 'internal'],
    ] as const;
    for (const [script, code] of scripts) {
      const { connection } = connect(script);
      await expect(query(connection)).rejects.toMatchObject({ code });
      await expect(query(connection)).rejects.toMatchObject({ code });
    }
  });

  it('rejects with the address and the reason if the script is missing', async () => {
    // The request that finds out the reason has a time limit, which the server of the tests may reach.
    vi.spyOn(AbortSignal, 'timeout').mockReturnValue(new AbortController().signal);
    const there = URL.createObjectURL(new Blob([ANSWERING], { type: 'text/javascript' }));
    const gone = URL.createObjectURL(new Blob([ANSWERING], { type: 'text/javascript' }));
    URL.revokeObjectURL(gone);
    const text = URL.createObjectURL(new Blob([ANSWERING], { type: 'text/plain' }));
    for (const [url, fields] of [
      [new URL('/@fs/no-such-file/entry.js', location.href).href, { status: expect.any(Number) }],
      [location.href, { contentType: 'text/html' }],
      [text, { contentType: 'text/plain' }],
    ] as const) {
      await expect(query(connectTo(url))).rejects.toMatchObject({
        code: 'worker-unloadable',
        recovery: 'bug',
        fields: { url, help: 'docs/guides/client.md#bundlers', ...fields },
      });
    }
    await expect(query(connectTo(gone))).rejects.toMatchObject({
      code: 'code-unloadable',
      recovery: 'retry',
      fields: { part: 'worker', url: gone, problem: 'the address is unreachable from this page' },
    });
    expect(await query(connectTo(there))).toBe('answer');
  });

  it.each([
    ['first request fails', 1],
    ['requests fail for a moment', 3],
  ])('rejects with an error that says that the script loads now, if its %s', async (_, failures) => {
    const url = new URL(`/worker-fails-${failures}.js`, location.href).href;
    await commands.failFirst(url, String(failures), ANSWERING);
    await expect(query(connectTo(url))).rejects.toMatchObject({
      code: 'code-unloadable',
      recovery: 'retry',
      fields: { part: 'worker', url, loadsNow: true },
    });
    expect(await query(connectTo(url))).toBe('answer');
  });

  it('rejects with an error that says that the script loads now, if an import of it fails for a moment', async () => {
    const imported = new URL('/imported-by-worker.js', location.href).href;
    await commands.failFirst(imported, '2', ANSWERING);
    const script = new Blob([`import '${imported}';`], { type: 'text/javascript' });
    const url = URL.createObjectURL(script);
    await expect(query(connectTo(url))).rejects.toMatchObject({ code: 'code-unloadable', fields: { loadsNow: true } });
    expect(await query(connectTo(url))).toBe('answer');
  });

  it.each([`worker-src 'none'`, `script-src 'self' 'unsafe-inline' 'unsafe-eval'`])(
    'rejects with the reason if a policy of the page refuses the script: %s',
    async (policy) => {
      const frame = document.createElement('iframe');
      frame.srcdoc = `<meta http-equiv="Content-Security-Policy" content="${policy}">`;
      const loaded = new Promise((resolve) => frame.addEventListener('load', resolve));
      document.body.append(frame);
      await loaded;
      const url = URL.createObjectURL(new Blob([ANSWERING], { type: 'text/javascript' }));
      const diagnosis = new URL('./why-unloadable.ts', import.meta.url).href;
      const { eval: evalInFrame } = frame.contentWindow as unknown as typeof globalThis;
      const { whyUnloadable } = await (evalInFrame(`import(${JSON.stringify(diagnosis)})`) as Promise<
        typeof import('./why-unloadable.ts')
      >);
      expect(await whyUnloadable(url)).toMatchObject({
        code: 'worker-unloadable',
        fields: { url, problem: 'a Content-Security-Policy of the page (worker-src) blocks the script' },
      });
      frame.remove();
    },
  );

  it('does not take a violation of another policy for the reason', async () => {
    const url = URL.createObjectURL(new Blob([`import '/no-such-script.js';`], { type: 'text/javascript' }));
    const { Worker: native } = globalThis;
    globalThis.Worker = new Proxy(native, {
      construct(target, args) {
        document.dispatchEvent(Object.assign(new Event('securitypolicyviolation'), { effectiveDirective: 'img-src' }));
        return Reflect.construct(target, args) as Worker;
      },
    });
    try {
      await expect(query(connectTo(url))).rejects.toMatchObject({
        code: 'worker-unloadable',
        fields: { url, problem: expect.stringContaining('one of its imports fails') },
      });
    } finally {
      globalThis.Worker = native;
    }
  });

  it('rejects if the script does not start within a minute', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const { connection } = connect('await new Promise(() => undefined);');
      const waiting = query(connection);
      waiting.catch(() => undefined);
      await vi.advanceTimersByTimeAsync(60_000);
      await expect(waiting).rejects.toMatchObject({
        code: 'opening-stalled',
        recovery: 'retry',
        fields: { stage: 'worker', withinMs: 60_000 },
      });
    } finally {
      vi.useRealTimers();
    }
  });

  it('waits longer than a minute for the response of a script that has started', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const url = URL.createObjectURL(new Blob([ANSWERING_PINGS], { type: 'text/javascript' }));
      const worker = new Worker(url, { type: 'module' });
      const started = new Promise((resolve) => worker.addEventListener('message', resolve, { once: true }));
      const connection = connectWorker({ worker, url }, () => undefined);
      connections.push(connection);
      const rejected = vi.fn<() => void>();
      query(connection).catch(rejected);
      await started;
      await vi.advanceTimersByTimeAsync(120_000);
      expect(await connection.call((api) => api.ping())).toBe('answer');
      expect(rejected).not.toHaveBeenCalled();
    } finally {
      vi.useRealTimers();
    }
  });

  it('rejects if the connection ends before the response', async () => {
    const { connection } = connect('');
    const waiting = query(connection);
    connection.end(closed);
    await expect(waiting).rejects.toBe(closed);
    await expect(query(connection)).rejects.toBe(closed);
  });
});

it('an error of a running worker is reported, and the worker continues', async () => {
  const { connection, problems } = connect(
    `${ANSWERING} addEventListener('message', ({ data }) => data.path[0] === 'query' && setTimeout(() => { throw new TypeError('later'); }));`,
  );
  await query(connection);
  await expect.poll(() => problems.map(({ code }) => code)).toEqual(['internal']);
  expect(await query(connection)).toBe('answer');
});
