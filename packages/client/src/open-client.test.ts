import {
  buildSchema,
  DEFAULT_DOCUMENT_RULE,
  DEFAULT_MERGE_RULES,
  RockpoolError,
  type ErrorFields,
} from '@rockpool/shared';
import type { Remote } from 'comlink';
import { sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Client } from './client.ts';
import { createDevice } from './node/device.ts';
import type { PersistenceChoice } from './rpc/persistence.ts';
import type { OwnState } from './rpc/presence.ts';
import type { SqlStatement } from './rpc/sql-statement.ts';
import type { ClientEnvironment } from './client-session.ts';
import type { ClientOptions, SyncOptions } from './interface/client-options.ts';
import { loadPart } from './load-part.ts';
import { openClient } from './open-client.ts';
import { INITIAL_STATUS } from './rpc/sync-status.ts';
import type { EncodedRows } from './rpc/rows-transfer.ts';
import type { TabApi, WorkerApi } from './rpc/worker-api.ts';
import { defineSchema } from './schema/define-schema.ts';
import { requireAllSent } from './tab/require-all-sent.ts';
import type { PageEvents } from './tab/page-lifecycle.ts';
import { settle } from '../testing/fake-tabs.ts';
import { testTable } from '../testing/worker/table-schema.ts';

vi.mock(import('./load-part.ts'), { spy: true });

/** Workers that open and then send the events of a test. */
class Workers {
  readonly tabs: TabApi[] = [];
  readonly ended: RockpoolError[] = [];
  readonly problems: string[] = [];
  /** The live queries, states and changes of the page that each worker received, after its index. */
  readonly asked: string[] = [];
  private started = 0;
  /** The result of every query. */
  answer = (): EncodedRows => ({ names: [], columns: [], rowCount: 0 });
  /** Resolves when the worker has committed a write. */
  committed = (): Promise<void> => Promise.resolve();
  /** Resolves when a worker has shown the states of this tab. */
  shown = (): Promise<void> => Promise.resolve();
  /** Resolves when a worker has opened its database. */
  opened = (): Promise<void> => Promise.resolve();
  /** Resolves when the worker has closed its database. */
  closed = (): Promise<void> => Promise.resolve();

  readonly environment: ClientEnvironment = {
    connect: () => {
      const index = this.started++;
      const api = {
        watch: async (_: number, { sql }: SqlStatement) => void this.asked.push(`${index} watches ${sql}`),
        showPresence: async (_: string, states: readonly OwnState[]) => {
          for (const { stateJson } of states) this.asked.push(`${index} shows ${stateJson}`);
          await this.shown();
        },
        open: async (_: unknown, tab: TabApi) => (this.tabs.push(tab), this.opened().then(() => null)),
        ping: async () => undefined,
        suspend: async () => void this.asked.push(`${index} is suspended`),
        resume: async () => void this.asked.push(`${index} is resumed`),
        write: async () => {
          await this.committed();
          return { outcomes: [{ changes: 1 }], update: null };
        },
        query: async () => this.answer(),
        close: () => this.closed(),
      };
      return { call: (run) => run(api as unknown as Remote<WorkerApi>), end: (error) => void this.ended.push(error) };
    },
    page: () => null,
    deleteDatabase: async () => undefined,
  };

  open(persistence: PersistenceChoice, options: Pick<ClientOptions, 'sync' | 'onError'> = {}): Promise<Client> {
    const schema = buildSchema([testTable('page', { id: 'text not null' })]);
    return openClient(
      { name: 'stuck', schema, persistence, onError: ({ code }) => void this.problems.push(code), ...options },
      this.environment,
    );
  }

  /** The report that sync makes after every other remedy has failed. */
  sayStuck(): void {
    void this.tabs[0]?.onEvent({ kind: 'problem', error: new RockpoolError('worker-stuck').toData() });
  }

  /** An update of the status by the worker that was started at this index. */
  showPending(index: number, updateNumber: number, pendingCount: number): void {
    const status = { ...INITIAL_STATUS, role: 'leader', state: 'pushing', pendingCount } as const;
    void this.tabs[index]?.onEvent({ kind: 'status', update: { number: updateNumber, status } });
  }
}

const unsent = (pendingCount: number): EncodedRows => ({
  names: ['pendingCount', 'rejectedCount'],
  columns: [pendingCount, 0].map((value) => ({ kind: 'mixed', values: [value] }) as const),
  rowCount: 1,
});

describe('a client whose worker does not load', () => {
  const failure = (fields: ErrorFields): RockpoolError => new RockpoolError('code-unloadable', fields);

  it('starts another worker if the script loads now', async () => {
    const workers = new Workers();
    workers.opened = () => {
      workers.opened = () => Promise.resolve();
      return Promise.reject(failure({ part: 'worker', loadsNow: true }));
    };
    const client = await workers.open('durable');
    expect([workers.tabs.length, workers.problems]).toEqual([2, []]);
    await client.close();
  });

  it.each([
    ['does not load in another worker either', { part: 'worker', loadsNow: true }, 2],
    ['is out of reach', { part: 'worker' }, 1],
  ])('rejects with the error if the script %s', async (_, fields, started) => {
    const workers = new Workers();
    workers.opened = () => Promise.reject(failure(fields));
    await expect(workers.open('durable')).rejects.toMatchObject({ code: 'code-unloadable', fields });
    expect([workers.tabs.length, workers.ended.length]).toEqual([started, 1]);
  });
});

it.each([
  ['soon after opening if the schema has documents', [{ ...DEFAULT_DOCUMENT_RULE, column: 'content' }], 1],
  ['on first use if the schema has no documents', [], 0],
])('a client in a page loads the code of documents %s', async (_, documents, loads) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    vi.mocked(loadPart).mockClear();
    const workers = new Workers();
    const page = { window: new EventTarget(), document: new EventTarget() as PageEvents['document'] };
    const columns = { id: 'text not null', content: 'text' };
    const merge = { ...DEFAULT_MERGE_RULES, documents };
    const client = await openClient(
      { name: 'page', schema: buildSchema([testTable('page', columns, { merge })]) },
      { ...workers.environment, page: () => page },
    );
    expect(loadPart).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(vi.mocked(loadPart).mock.calls.filter(([part]) => part === 'documents')).toHaveLength(loads);
    await client.close();
  } finally {
    vi.useRealTimers();
  }
});

it('a client replaces a stuck worker and reports it', async () => {
  const workers = new Workers();
  const client = await workers.open('durable');
  workers.sayStuck();
  await expect.poll(() => workers.tabs.length).toBe(2);
  expect(workers.ended.map(({ code }) => code)).toEqual(['worker-stuck']);
  expect(workers.problems).toEqual(['worker-stuck']);
  expect(client.status.current).toMatchObject({ state: 'opening', reason: { code: 'worker-stuck' } });
  await client.close();
});

it('a client repeats its live queries and its presence in the worker that replaces a stuck one', async () => {
  const workers = new Workers();
  const client = await workers.open('durable');
  client.live('SELECT 1').subscribe(() => undefined);
  client.presence.set('here');
  await expect.poll(() => workers.asked.toSorted()).toEqual(['0 shows "here"', '0 watches SELECT 1']);
  workers.sayStuck();
  await expect.poll(() => workers.asked.slice(2).toSorted()).toEqual(['1 shows "here"', '1 watches SELECT 1']);
  await client.close();
});

it('a client ignores late events of a worker that was replaced', async () => {
  const workers = new Workers();
  const client = await workers.open('durable');
  const pendingCount = (): number => client.status.current.pendingCount;
  workers.showPending(0, 50, 1);
  expect(pendingCount()).toBe(1);
  workers.sayStuck();
  await expect.poll(() => workers.tabs.length).toBe(2);
  workers.showPending(0, 51, 2);
  expect(pendingCount()).toBe(1);
  workers.showPending(1, 0, 3);
  expect(pendingCount()).toBe(3);
  workers.sayStuck();
  expect([workers.tabs.length, workers.problems]).toEqual([2, ['worker-stuck']]);
  await client.close();
});

describe('a client whose app throws in a callback', () => {
  const thrown = new Error('of the app');
  const throwing = (): never => {
    throw thrown;
  };
  const reported = vi.fn();
  beforeEach(() => void vi.stubGlobal('reportError', reported.mockReset()));
  afterEach(() => void vi.unstubAllGlobals());

  it('sends presence after `onError` threw', async () => {
    const workers = new Workers();
    const client = await workers.open('durable', { onError: throwing });
    workers.shown = () => Promise.reject(new RockpoolError('internal'));
    client.presence.set('first');
    await expect.poll(() => reported.mock.calls).toEqual([[thrown]]);
    workers.shown = () => Promise.resolve();
    client.presence.set('second');
    await expect.poll(() => workers.asked).toContain('0 shows "second"');
    await client.close();
  });

  // The worker would report it as an error of its own, which ends a worker that is opening.
  it('keeps from the worker what `onError` and `onProgress` threw', async () => {
    const workers = new Workers();
    const sync: SyncOptions = {
      url: 'ws://localhost',
      databaseId: 'pages',
      token: () => null,
      firstSync: { onProgress: throwing },
    };
    const client = await workers.open('durable', { onError: throwing, sync });
    const [tab] = workers.tabs;
    void tab?.onEvent({ kind: 'problem', error: new RockpoolError('storage-corrupt').toData() });
    void tab?.onEvent({ kind: 'first-sync', receivedBytes: 1, totalBytes: 2 });
    expect(reported.mock.calls).toEqual([[thrown], [thrown]]);
    await client.close();
  });
});

describe('a client whose page is left while the database is still opening', () => {
  const pageLeft = (workers: Workers): { readonly page: PageEvents; readonly opening: Promise<Client> } => {
    const page = { window: new EventTarget(), document: new EventTarget() as PageEvents['document'] };
    const schema = buildSchema([testTable('page', { id: 'text not null' })]);
    const onError = ({ code }: RockpoolError): void => void workers.problems.push(code);
    const opening = openClient({ name: 'left', schema, onError }, { ...workers.environment, page: () => page });
    return { page, opening };
  };

  it('suspends its worker, and resumes it', async () => {
    const workers = new Workers();
    const opened = Promise.withResolvers<void>();
    workers.opened = () => opened.promise;
    const { page, opening } = pageLeft(workers);
    await expect.poll(() => workers.tabs).toHaveLength(1);
    page.window.dispatchEvent(new Event('pagehide'));
    page.window.dispatchEvent(new Event('pageshow'));
    await settle();
    expect(workers.asked).toEqual(['0 is suspended', '0 is resumed']);
    opened.resolve();
    await (await opening).close();
    expect(workers.problems).toEqual([]);
  });

  it('follows the page no longer if opening fails', async () => {
    const workers = new Workers();
    workers.opened = () => Promise.reject(new RockpoolError('storage-busy'));
    const { page, opening } = pageLeft(workers);
    await expect(opening).rejects.toMatchObject({ code: 'storage-busy' });
    page.window.dispatchEvent(new Event('pagehide'));
    await settle();
    expect(workers.asked).toEqual([]);
  });
});

describe('a client whose replacement worker cannot open the database', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each([
    ['tab-outdated', 'outdated'],
    ['database-newer', 'blocked'],
    ['other-principal', 'blocked'],
    ['migration-failed', 'blocked'],
  ] as const)('shows %s, tries no more, and can be closed', async (code, state) => {
    const workers = new Workers();
    const client = await workers.open('durable');
    workers.opened = () => Promise.reject(new RockpoolError(code));
    workers.sayStuck();
    await expect.poll(() => client.status.current).toMatchObject({ state, role: 'none', reason: { code } });
    vi.advanceTimersByTime(60_000);
    expect(workers.tabs).toHaveLength(2);
    expect(workers.problems).toEqual(['worker-stuck', code]);
    await expect(client.execute('INSERT INTO page VALUES (1)')).rejects.toMatchObject({ code });
    await client.leave({ discardUnsent: true });
    expect(workers.ended.map((error) => error.code)).toEqual(['worker-stuck', 'client-closed']);
  });

  it.each(['storage-busy', 'storage-ephemeral', 'storage-corrupt'] as const)('tries again after %s', async (code) => {
    const workers = new Workers();
    const client = await workers.open('durable');
    workers.opened = () => Promise.reject(new RockpoolError(code));
    workers.sayStuck();
    const reason = (): unknown => client.status.current.reason?.code;
    await expect.poll(reason).toBe(code);
    expect(client.status.current.state).toBe('opening');
    workers.opened = () => Promise.resolve();
    vi.advanceTimersByTime(5_000);
    expect(await client.execute('INSERT INTO page VALUES (1)')).toMatchObject({ changes: 1 });
    expect(workers.tabs).toHaveLength(3);
    await client.close();
  });

  it('reports nothing if it is closed meanwhile', async () => {
    const workers = new Workers();
    const client = await workers.open('durable');
    const opened = Promise.withResolvers<void>();
    workers.opened = () => opened.promise;
    workers.sayStuck();
    const closed = client.close();
    opened.reject(new RockpoolError('storage-busy'));
    await closed;
    expect(workers.problems).toEqual(['worker-stuck']);
  });
});

describe('the wait until a client is up to date', () => {
  const sync: SyncOptions = { url: 'ws://localhost', databaseId: 'pages', token: async () => '' };

  it('ends with its signal, or when the client closes, while a worker is replaced', async () => {
    const workers = new Workers();
    const client = await workers.open('durable', { sync });
    workers.opened = () => new Promise(() => undefined);
    workers.sayStuck();
    await client.listBranches().catch(() => undefined); // Loads the code of rare calls.
    const aborter = new AbortController();
    const aborted = client.sync.upToDate({ signal: aborter.signal }).catch((reason: unknown) => reason);
    const waiting = client.sync.upToDate().catch((error: unknown) => error);
    await settle();
    aborter.abort('enough');
    expect(await aborted).toBe('enough');
    const closed = client.close();
    expect(await waiting).toMatchObject({ code: 'client-closed' });
    void closed;
  });

  it('ends with its signal while its code loads', async () => {
    const client = await new Workers().open('durable', { sync });
    vi.mocked(loadPart).mockReturnValueOnce(new Promise(() => undefined));
    const aborter = new AbortController();
    const aborted = client.sync.upToDate({ signal: aborter.signal }).catch((reason: unknown) => reason);
    aborter.abort('enough');
    expect(await aborted).toBe('enough');
    await client.close();
  });

  it('does not begin if its signal has aborted', async () => {
    const client = await new Workers().open('durable', { sync });
    vi.mocked(loadPart).mockClear();
    const signal = AbortSignal.abort('enough');
    expect(await client.sync.upToDate({ signal }).catch((reason: unknown) => reason)).toBe('enough');
    expect(loadPart).not.toHaveBeenCalled();
    await client.close();
  });

  it('leaves no listener at its signal', async () => {
    const workers = new Workers();
    const client = await workers.open('durable', { sync });
    const { signal } = new AbortController();
    const listeners: unknown[] = [];
    signal.addEventListener = (_: string, listener: unknown) => void listeners.push(listener);
    signal.removeEventListener = (_: string, listener: unknown) =>
      void listeners.splice(listeners.indexOf(listener), 1);
    const reached = client.sync.upToDate({ signal });
    await expect.poll(() => listeners).toHaveLength(2);
    const status = { ...INITIAL_STATUS, role: 'leader', state: 'up-to-date' } as const;
    void workers.tabs[0]?.onEvent({ kind: 'status', update: { number: 1, status } });
    await reached;
    expect(listeners).toEqual([]);
    await client.close();
  });

  it.each(['tab-outdated', 'tab-options-differ', 'schema-incompatible'] as const)(
    'rejects with the reason for which the tab ends: %s',
    async (code) => {
      const workers = new Workers();
      const client = await workers.open('durable', { sync });
      const waiting = client.sync.upToDate().catch((error: unknown) => error);
      await settle();
      const status = {
        ...INITIAL_STATUS,
        role: 'none',
        state: code === 'tab-outdated' ? 'outdated' : 'blocked',
        reason: new RockpoolError(code).toData(),
      } as const;
      void workers.tabs[0]?.onEvent({ kind: 'status', update: { number: 1, status } });
      expect(await waiting).toMatchObject({ code });
      await client.close();
    },
  );
});

it('a closed client starts no worker for a late report', async () => {
  const workers = new Workers();
  const client = await workers.open('durable');
  await client.close();
  workers.sayStuck();
  expect([workers.tabs.length, workers.ended.map(({ code }) => code)]).toEqual([1, ['client-closed']]);
  expect(workers.problems).toEqual([]);
});

it('a closed client reports nothing when the app uses its stores', async () => {
  const workers = new Workers();
  const client = await workers.open('durable');
  await client.close();
  client.rejected.subscribe(() => undefined);
  client.presence.set('late');
  await settle();
  expect(workers.problems).toEqual([]);
});

it('a client that closes waits for its worker, which may write and hand over, and ends it after 13 seconds', async () => {
  const workers = new Workers();
  const client = await workers.open('memory');
  workers.closed = () => new Promise(() => undefined);
  vi.useFakeTimers();
  const closed = client.close();
  await vi.advanceTimersByTimeAsync(12_999);
  expect(workers.ended).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(workers.ended.map(({ code }) => code)).toEqual(['client-closed']);
  await closed;
  vi.useRealTimers();
});

it('a client reports, but does not replace, a stuck worker that holds a database in memory', async () => {
  const workers = new Workers();
  const client = await workers.open('memory');
  workers.sayStuck();
  expect([workers.tabs.length, workers.ended, workers.problems]).toEqual([1, [], ['worker-stuck']]);
  await client.close();
});

it.each([0, 1])(
  'a client refuses writes while it checks that all is sent, and after it found %i unsent',
  async (count) => {
    const workers = new Workers();
    const client = await workers.open('durable');
    const write = (): Promise<unknown> => client.execute('INSERT INTO page VALUES (1)');
    const during: Promise<unknown>[] = [];
    workers.answer = () => {
      during.push(write().catch((error: unknown) => error));
      return unsent(count);
    };
    const left = await client.leave().catch((error: unknown) => error);
    expect(await Promise.all(during)).toMatchObject([{ code: 'client-closed' }]);
    if (count === 0) return expect(left).toBeUndefined();
    expect(left).toMatchObject({ code: 'changes-unsent' });
    expect(await write()).toMatchObject({ changes: 1 });
    await client.close();
  },
);

it('leaving a database that another tab has open closes the client, which can then only leave with `discardUnsent`', async () => {
  const workers = new Workers();
  workers.answer = () => unsent(0);
  const deleted: string[] = [];
  let isBusy = true;
  const client = await openClient(
    { name: 'shared', schema: buildSchema([testTable('page', { id: 'text not null' })]) },
    {
      ...workers.environment,
      deleteDatabase: async (name) => {
        if (isBusy) throw new RockpoolError('storage-busy');
        deleted.push(name);
      },
    },
  );
  await expect(client.leave()).rejects.toMatchObject({ code: 'storage-busy' });
  await expect(client.leave({ discardUnsent: true })).rejects.toMatchObject({ code: 'storage-busy' });
  isBusy = false;
  // The other tab may have written, which only a new client can check.
  await expect(client.leave()).rejects.toMatchObject({ code: 'client-closed' });
  expect(deleted).toEqual([]);
  await client.leave({ discardUnsent: true });
  expect(deleted).toEqual(['shared']);
});

it('leaving waits for every write under way, also if a later one has ended', async () => {
  const workers = new Workers();
  const client = await workers.open('durable');
  workers.answer = () => unsent(1);
  await client.leave().catch(() => undefined); // Loads the code of `leave`.
  const [begun, committed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  workers.committed = () => {
    begun.resolve();
    return committed.promise;
  };
  const first = client.execute('INSERT INTO page VALUES (1)');
  await begun.promise;
  workers.committed = () => Promise.resolve();
  await client.execute('INSERT INTO page VALUES (2)');
  let hasAsked = false;
  workers.answer = () => {
    hasAsked = true;
    return unsent(0);
  };
  const left = client.leave();
  await settle();
  expect(hasAsked).toBe(false);
  committed.resolve();
  await first;
  await left;
  expect(hasAsked).toBe(true);
});

it('leaving waits ten seconds for a write, then reports that it is under way', async () => {
  vi.useFakeTimers();
  const session = {
    leaving: 0,
    settled: new Promise(() => undefined),
    call: async <T>() => unsent(0) as T,
  };
  const left = requireAllSent(session).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await Promise.race([left, Promise.resolve('waiting')])).toMatchObject({
    code: 'changes-unsent',
    fields: { pendingCount: 0, isWriting: true },
  });
  expect(session.leaving).toBe(0);
  vi.useRealTimers();
});

it('leaving writes what was typed into an open document during a write', async () => {
  const page = sqliteTable('page', { id: text().primaryKey(), content: text() });
  const schema = defineSchema([page], { merge: [{ table: page, documents: [{ column: page.content }] }] });
  const device = createDevice();
  const client = await device.createClient({ name: 'pages', schema });
  const tab = await device.createClient({ name: 'pages', schema });
  await client.execute(`INSERT INTO page VALUES ('p', '{"body":""}')`);
  await client.listBranches(); // Loads the code of rare calls.
  const document = await client.document<{ body: string }>('page', ['p'], 'content');
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const transaction = tab.transaction(async (tx) => {
    await tx.query('SELECT 1');
    begun.resolve();
    await end.promise;
  });
  await begun.promise;
  document.change(() => ({ body: 'a' }));
  await Promise.resolve(); // Its write waits for the transaction.
  document.change(() => ({ body: 'ab' }));
  const left = client.leave().catch((error: unknown) => error);
  await new Promise((resolve) => setTimeout(resolve));
  end.resolve();
  await transaction;
  // The row and two changes.
  expect(await left).toMatchObject({ code: 'changes-unsent', fields: { pendingCount: 3 } });
  expect(await tab.query('SELECT content FROM page')).toEqual([{ content: '{"body":"ab"}' }]);
  await Promise.all([client.close(), tab.close()]);
});
