import { sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { eq } from 'drizzle-orm';
import { StrictMode, Suspense, useEffect, useState, type ReactElement } from 'react';
import { flushSync } from 'react-dom';
import { createRoot, type Root } from 'react-dom/client';
import { encodeSchema } from '@rockpool/shared';
import { afterEach, expect, it, vi } from 'vitest';
import { commands, userEvent } from 'vitest/browser';
import type { Client } from './client.ts';
import { createClient, newId, RockpoolError, sql } from './index.ts';
import { defineSchema, versionName } from './schema/index.ts';
import { PageQueries } from './tab/live-queries.ts';
import { freshName } from '../testing/browser-tabs.ts';
import { drizzle, liveQuery } from './drizzle/index.ts';
import {
  RockpoolProvider,
  useClient,
  useDocument,
  useLiveQuery,
  usePresence,
  useSuspenseLiveQuery,
  useSyncStatus,
  useRowHistory,
  useRowSyncState,
} from './react/index.ts';

const note = sqliteTable('note', { id: text().primaryKey(), body: text().notNull() });
const page = sqliteTable('page', { id: text().primaryKey(), content: text({ mode: 'json' }) });
const schema = defineSchema(
  { note, page, versionName },
  { history: [note], merge: [{ table: page, documents: [{ column: page.content, text: ['body'] }] }] },
);

let client: Client | null = null;
let root: Root | null = null;

async function open(): Promise<Client> {
  client = await createClient({ name: freshName(), schema });
  return client;
}

function draw(element: ReactElement): HTMLElement {
  const container = document.createElement('div');
  document.body.append(container);
  root = createRoot(container);
  root.render(<StrictMode>{element}</StrictMode>);
  return container;
}

afterEach(async () => {
  vi.useRealTimers();
  root?.unmount();
  await client?.close();
  document.body.replaceChildren();
});

function Notes({ prefix }: { readonly prefix: string }): ReactElement {
  const { rows, loading, error } = useLiveQuery<{ id: string; body: string }>(
    sql`SELECT * FROM note WHERE body LIKE ${`${prefix}%`} ORDER BY body`,
  );
  if (error !== null) return <p>{error.code}</p>;
  return <p>{loading ? 'loading' : rows.map(({ body }) => body).join(' ')}</p>;
}

function AddButton(): ReactElement {
  const mine = useClient();
  return (
    <button onClick={() => void mine.execute(sql`INSERT INTO note VALUES (${newId()}, 'a from the button')`)}>
      add
    </button>
  );
}

function SyncState(): ReactElement {
  const rowSyncState = useRowSyncState('note', ['n1']);
  return <i>{rowSyncState === null ? 'asking' : `${rowSyncState.stage} ${rowSyncState.changes.length}`}</i>;
}

function Versions({ table }: { readonly table: string }): ReactElement {
  const { state, error } = useRowHistory(table, ['n1']);
  const kinds = state?.versions.map(({ kind, changes, names }) =>
    [kind, ...changes.map(({ after }) => after), ...names].join(' '),
  );
  return <i>{error?.message ?? kinds?.join('; ') ?? 'asking'}</i>;
}

function Badge(): ReactElement {
  const { state, role } = useSyncStatus();
  return <i>{`${state} ${role}`}</i>;
}

it('useLiveQuery renders rows, and renders them again when they change, under StrictMode', async () => {
  const opened = await open();
  const page = draw(
    <RockpoolProvider client={opened}>
      <Notes prefix="a" />
      <AddButton />
    </RockpoolProvider>,
  );
  await expect.poll(() => page.querySelector('p')?.textContent).toBe('');
  await opened.execute(sql`INSERT INTO note VALUES ('1', 'a one'), ('2', 'b two')`);
  await expect.poll(() => page.querySelector('p')?.textContent).toBe('a one');
  page.querySelector('button')?.click();
  await expect.poll(() => page.querySelector('p')?.textContent).toBe('a from the button a one');
});

it('useLiveQuery runs another query when a value of the statement changes', async () => {
  const opened = await open();
  await opened.execute(sql`INSERT INTO note VALUES ('1', 'a one'), ('2', 'b two')`);
  const page = draw(
    <RockpoolProvider client={opened}>
      <Notes prefix="a" />
    </RockpoolProvider>,
  );
  await expect.poll(() => page.textContent).toBe('a one');
  root?.render(
    <StrictMode>
      <RockpoolProvider client={opened}>
        <Notes prefix="b" />
      </RockpoolProvider>
    </StrictMode>,
  );
  await expect.poll(() => page.textContent).toBe('b two');
});

it('useSyncStatus shows the status of sync', async () => {
  const opened = await open();
  const page = draw(
    <RockpoolProvider client={opened}>
      <Badge />
    </RockpoolProvider>,
  );
  await expect.poll(() => page.textContent).toBe('offline leader');
});

function NotesOfDrizzle({ body }: { readonly body: string }): ReactElement {
  const { rows } = useLiveQuery(
    (mine) => liveQuery(mine, drizzle(mine).select({ id: note.id }).from(note).where(eq(note.body, body))),
    [body],
  );
  return <p>{rows.map(({ id }) => id).join(' ')}</p>;
}

it('useLiveQuery creates a live query with a function, and creates it again when the dependencies change', async () => {
  const opened = await open();
  await opened.batch([sql`INSERT INTO note VALUES ('1', 'x')`, sql`INSERT INTO note VALUES ('2', 'y')`]);
  const of = (body: string): ReactElement => (
    <StrictMode>
      <RockpoolProvider client={opened}>
        <NotesOfDrizzle body={body} />
      </RockpoolProvider>
    </StrictMode>
  );
  const page = draw(of('x'));
  await expect.poll(() => page.textContent).toBe('1');
  await opened.execute(sql`INSERT INTO note VALUES ('3', 'x')`);
  await expect.poll(() => page.textContent).toBe('1 3');
  root?.render(of('y'));
  await expect.poll(() => page.textContent).toBe('2');
});

function Suspending({ body }: { readonly body: string }): ReactElement {
  const { rows, loading } = useSuspenseLiveQuery<{ id: string }>(sql`SELECT id FROM note WHERE body = ${body}`);
  return <p>{loading ? 'never' : rows.map(({ id }) => id).join(' ')}</p>;
}

it('useSuspenseLiveQuery suspends until the first result, and not when the result changes', async () => {
  const opened = await open();
  await opened.execute(sql`INSERT INTO note VALUES ('1', 'x')`);
  const page = draw(
    <RockpoolProvider client={opened}>
      <Suspense fallback={<p>waiting</p>}>
        <Suspending body="x" />
      </Suspense>
    </RockpoolProvider>,
  );
  const seen = new Set<string>();
  new MutationObserver(() => seen.add(page.textContent ?? '')).observe(page, {
    childList: true,
    subtree: true,
    characterData: true,
  });
  await expect.poll(() => page.querySelector('p:not([style*="none"])')?.textContent).toBe('1');
  await opened.execute(sql`INSERT INTO note VALUES ('2', 'x')`);
  await expect.poll(() => page.textContent).toBe('1 2');
  expect(seen).not.toContain('never');
});

/** A client whose live queries return one row when the test answers them. Its timers are fake. */
function createSlowClient(): {
  readonly slow: Client;
  readonly asked: string[];
  readonly ended: string[];
  readonly answer: (text: string) => void;
  readonly close: () => void;
} {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const asked: string[] = [];
  const ended: string[] = [];
  const queries = new PageQueries({
    call: (run) =>
      run({
        watch: async (queryId, statement) => void (asked[queryId - 1] = statement.sql),
        unwatch: async (queryId) => void ended.push(asked[queryId - 1] ?? ''),
        liveQueryRuns: async () => [],
      }),
  });
  const added = { names: ['n'], columns: [{ kind: 'null' as const }], rowCount: 1 };
  return {
    slow: { live: (text: string) => queries.live({ sql: text, params: [] }) } as unknown as Client,
    asked,
    ended,
    answer: (text) =>
      queries.onEvent({
        kind: 'live',
        results: [{ queryId: asked.lastIndexOf(text) + 1, diff: { runs: Int32Array.from([-1, 1]), added } }],
      }),
    close: () => queries.end(new RockpoolError('client-closed')),
  };
}

/** Advances the fake timers by one second. */
function afterASecond<T>(read: () => T): T {
  vi.advanceTimersByTime(1_000);
  return read();
}

/** Shows its text once it is mounted, that is, once it is subscribed. */
function Rows({ of, children }: { readonly of: string; readonly children?: ReactElement }): ReactElement {
  const { rows, error } = useSuspenseLiveQuery(of);
  const [isMounted, setMounted] = useState(false);
  useEffect(() => setMounted(true), []);
  return (
    <div>
      {isMounted && (error?.code ?? `${rows.length} ${of}`)} {children}
    </div>
  );
}

it('useSuspenseLiveQuery keeps a query running until all queries below its Suspense have results', async () => {
  const { slow, asked, ended, answer } = createSlowClient();
  const page = draw(
    <RockpoolProvider client={slow}>
      <Suspense fallback="waiting">
        <Rows of="outer">
          <Rows of="inner" />
        </Rows>
      </Suspense>
    </RockpoolProvider>,
  );
  await expect.poll(() => asked).toEqual(['outer']);
  answer('outer');
  await expect.poll(() => asked).toEqual(['outer', 'inner']);
  vi.advanceTimersByTime(60_000);
  answer('inner');
  await expect.poll(() => page.textContent).toBe('1 outer 1 inner ');
  vi.advanceTimersByTime(60_000);
  expect(asked).toEqual(['outer', 'inner']);
  expect(ended).toEqual([]);
  root?.unmount();
  await expect.poll(() => afterASecond(() => new Set(ended))).toEqual(new Set(asked));
});

it('useSuspenseLiveQuery shows the error of a closed client each time it is mounted', async () => {
  const { slow, close } = createSlowClient();
  close();
  const of = (isShown: boolean): ReactElement => (
    <RockpoolProvider client={slow}>
      <Suspense fallback="waiting">{isShown && <Rows of="a" />}</Suspense>
    </RockpoolProvider>
  );
  const page = draw(of(true));
  await expect.poll(() => page.textContent).toBe('client-closed ');
  root?.render(of(false));
  await expect.poll(() => afterASecond(() => slow.live('a').current.loading)).toBe(true);
  root?.render(of(true));
  await expect.poll(() => page.textContent).toBe('client-closed ');
});

it('hooks never show a row of an earlier client', async () => {
  const earlier = await open();
  const later = await open();
  const shown: unknown[][] = [];
  function Watcher(): null {
    const { value } = useDocument<{ body: string }>('page', 'p', 'content');
    shown.push([value, useRowHistory('note', 'p').state, useRowSyncState('note', 'p')]);
    return null;
  }
  const of = (given: Client): ReactElement => (
    <RockpoolProvider client={given}>
      <Watcher />
    </RockpoolProvider>
  );
  try {
    await earlier.batch([sql`INSERT INTO note VALUES ('p', 'x')`, sql`INSERT INTO page VALUES ('p', '{"body":"x"}')`]);
    draw(of(earlier));
    await expect.poll(() => shown.at(-1)?.every((part) => part !== null)).toBe(true);
    shown.length = 0;
    flushSync(() => root?.render(<StrictMode>{of(later)}</StrictMode>));
    expect(shown[0]).toEqual([null, null, null]);
  } finally {
    await earlier.close();
  }
});

it('hooks render the loading state while there is no client', async () => {
  const page = draw(
    <RockpoolProvider client={null}>
      <Notes prefix="a" />
      <Badge />
    </RockpoolProvider>,
  );
  await expect.poll(() => page.textContent).toBe('loadingopening none');
});

it('useRowSyncState returns the sync state of a row, and updates it with the status', async () => {
  const opened = await open();
  await opened.execute(sql`INSERT INTO note VALUES ('n1', 'x')`);
  const container = draw(
    <RockpoolProvider client={opened}>
      <SyncState />
    </RockpoolProvider>,
  );
  await expect.poll(() => container.textContent).toBe('pending 1');
});

function Field({ id }: { readonly id: string }): ReactElement {
  const { document: open, value, error } = useDocument<{ body: string }>('page', [id], 'content');
  if (error !== null) return <b>{error instanceof RockpoolError ? error.code : 'other'}</b>;
  return (
    <input
      value={value?.body ?? 'opening'}
      onChange={({ target }) => open?.change((content) => ({ ...content, body: target.value }))}
    />
  );
}

it('a field of useDocument shows a document, edits it character by character, shows edits by others, and reports a missing document', async () => {
  const opened = await open();
  await opened.execute(sql`INSERT INTO page VALUES ('p', '{"body":"low"}')`);
  const of = (id: string): ReactElement => (
    <RockpoolProvider client={opened}>
      <Field id={id} />
    </RockpoolProvider>
  );
  const drawn = draw(of('p'));
  const field = (): HTMLInputElement | null => drawn.querySelector('input');
  await expect.poll(() => field()?.value).toBe('low');
  // Types in the middle of the text, because a field that renders late moves the cursor to the end.
  await userEvent.click(field()!);
  await userEvent.keyboard('{Home}very ');
  expect(field()?.value).toBe('very low');
  await expect.poll(() => opened.query('SELECT content FROM page')).toEqual([{ content: '{"body":"very low"}' }]);
  await opened.execute(`UPDATE page SET content = json_set(content, '$.body', 'high')`);
  await expect.poll(() => field()?.value).toBe('high');
  root?.render(of('nobody'));
  await expect.poll(() => drawn.textContent).toBe('document-gone');
});

it('useDocument opens a document once its row is stored', async () => {
  const opened = await open();
  const drawn = draw(
    <RockpoolProvider client={opened}>
      <Field id="p" />
    </RockpoolProvider>,
  );
  await expect.poll(() => drawn.textContent).toBe('document-gone');
  await opened.execute(sql`INSERT INTO page VALUES ('p', NULL)`);
  await opened.execute(sql`UPDATE page SET content = '{"body":"late"}'`);
  await expect.poll(() => drawn.querySelector('input')?.value).toBe('late');
});

it('useDocument opens no document for a component that is unmounted before its row is stored', async () => {
  const opened = await open();
  let opens = 0;
  const document = (...given: Parameters<Client['document']>): ReturnType<Client['document']> => {
    opens++;
    return opened.document(...given);
  };
  const of = (children: ReactElement | null): ReactElement => (
    <RockpoolProvider client={{ ...opened, document } as Client}>{children}</RockpoolProvider>
  );
  const drawn = draw(of(<Field id="p" />));
  await expect.poll(() => drawn.textContent).toBe('document-gone');
  flushSync(() => root?.render(<StrictMode>{of(null)}</StrictMode>));
  opens = 0;
  const pages = opened.live('SELECT id FROM page');
  const stored = (async () => {
    for await (const { rows } of pages) if (rows.length > 0) return;
  })();
  await opened.execute(sql`INSERT INTO page VALUES ('p', '{"body":"late"}')`);
  await stored;
  expect(opens).toBe(0);
});

it('useDocument returns a new object for a document that is closed and opened again', async () => {
  const opened = await open();
  await opened.execute(sql`INSERT INTO page VALUES ('p', '{"body":"low"}'), ('q', '{"body":"high"}')`);
  const shown: unknown[] = [];
  function Watcher({ id }: { readonly id: string }): null {
    const { document: open } = useDocument<{ body: string }>('page', [id], 'content');
    shown.push(open);
    return null;
  }
  // Renders the same component each time, in the same tree as `draw`.
  const redraw = (id: string): void => flushSync(() => root?.render(<StrictMode>{of(id)}</StrictMode>));
  const of = (id: string): ReactElement => (
    <RockpoolProvider client={opened}>
      <Watcher id={id} />
    </RockpoolProvider>
  );
  draw(of('p'));
  await expect.poll(() => shown.at(-1)).toBeTruthy();
  const first = shown.at(-1);
  redraw('q');
  shown.length = 0;
  redraw('p');
  await expect.poll(() => shown.at(-1)).toBeTruthy();
  expect(shown).not.toContain(first);
});

function Present({ page }: { readonly page?: string }): ReactElement {
  const others = usePresence<{ page: string }>(page === undefined ? undefined : { page });
  return <u>{others.map(({ principal, state }) => `${principal} on ${state.page}`).join(', ')}</u>;
}

it('usePresence lists peers, shows this tab while the component is mounted, and only observes if no state is given', async () => {
  const databaseId = newId();
  const openAs = async (principal: string): Promise<Client> => {
    const { url, token } = await commands.accessToSyncServer(
      encodeSchema(schema),
      databaseId,
      location.origin,
      principal,
    );
    return createClient({ name: freshName(), schema, sync: { url, databaseId, token: () => token } });
  };
  client = await openAs('ann');
  const ben = await openAs('ben');
  try {
    ben.presence.set({ page: 'notes' });
    const seen = (): unknown => ben.presence.current.map(({ state }) => state);
    ben.presence.subscribe(() => undefined);
    const page = draw(
      <RockpoolProvider client={client}>
        <Present page="budget" />
      </RockpoolProvider>,
    );
    await expect.poll(() => page.querySelector('u')?.textContent).toBe('ben on notes');
    await expect.poll(seen).toEqual([{ page: 'budget' }]);
    root?.render(
      <RockpoolProvider client={client}>
        <Present />
      </RockpoolProvider>,
    );
    await expect.poll(seen).toEqual([]);
    ben.presence.set({ page: 'accounts' });
    await expect.poll(() => page.querySelector('u')?.textContent).toBe('ben on accounts');
  } finally {
    await ben.close();
  }
});

it('useRowHistory shows the history of a row, and updates it when the row changes, under StrictMode', async () => {
  const opened = await open();
  await opened.execute(sql`INSERT INTO note VALUES ('n1', 'one')`);
  const page = draw(
    <RockpoolProvider client={opened}>
      <Versions table="note" />
    </RockpoolProvider>,
  );
  await expect.poll(() => page.textContent).toBe('insert one');
  await opened.execute(sql`UPDATE note SET body = 'two'`);
  await expect.poll(() => page.textContent).toBe('update two; insert one');
  const history = await opened.history('note', 'n1');
  const [, first] = (await history.page()).versions;
  if (first !== undefined) await history.name(first, '“the start”');
  await expect.poll(() => page.textContent).toBe('update two; insert one “the start”');
  await history.unname('“the start”');
  await expect.poll(() => page.textContent).toBe('update two; insert one');
});

it('useRowHistory shows why a history cannot be opened', async () => {
  const opened = await open();
  const page = draw(
    <RockpoolProvider client={opened}>
      <Versions table="page" />
    </RockpoolProvider>,
  );
  await expect.poll(() => page.textContent).toContain('The table has no history.');
});
