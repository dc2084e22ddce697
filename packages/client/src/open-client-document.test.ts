import { RockpoolError } from '@rockpool/shared';
import { sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { describe, expect, it } from 'vitest';
import { openInMemory } from '../testing/worker/test-database.ts';
import type { ClientSession } from './client-session.ts';
import type { LiveDocument } from './interface/live-document.ts';
import { openClientDocument } from './open-client-document.ts';
import type { SqlStatement } from './rpc/sql-statement.ts';
import { defineSchema } from './schema/define-schema.ts';
import { PageQueries, type LiveSource } from './tab/live-queries.ts';
import { createLiveRunner } from './worker/live/live-runner.ts';

interface Content {
  readonly body: string;
}

const page = sqliteTable('page', { id: text().primaryKey(), content: text() });
const schema = defineSchema([page], {
  merge: [{ table: page, documents: [{ column: page.content, text: ['body'] }] }],
});
const INSERT = `INSERT INTO page (id, content) VALUES ('p', '{"body":"low tide"}')`;

/** The real live queries of a page and its worker, whose rounds run when the test says so. */
async function openPage(): Promise<{
  document: LiveDocument<Content>;
  write: (sql: string) => void;
  /** Writes before the next read of the document. */
  writeBeforeRead: (sql: string) => void;
  reads: () => number;
  runLiveQueries: () => Promise<void>;
}> {
  const database = openInMemory({ schema });
  const beforeRead: string[] = [];
  let [writes, reads] = [0, 0];
  let round: (() => void) | null = null;
  const write = (sql: string): void => {
    const { touchedTables: tables, changes } = database.write({
      id: `write ${++writes}`,
      statements: [{ sql, params: [] }],
    });
    runner.touch({ tables, changes });
  };
  const runner = createLiveRunner({
    reads: {
      queryAll: async (statements) =>
        statements.map(({ sql, params }) => ({ rows: database.query(sql, params), tookMs: 0 })),
      dependencies: async (statement) => database.dependencies(statement),
    },
    clock: { nowMs: () => 0, elapsedMs: () => 0, after: (_delayMs, callback) => ((round = callback), () => undefined) },
    send: (event) => void (event.kind === 'live' && live.onEvent(event)),
    onProblem: (error) => expect.unreachable(error.message),
  });
  const live = new PageQueries({
    call: (async (run) =>
      run({
        watch: async (id: number, statement: SqlStatement) => runner.watch(id, statement),
        unwatch: async (id: number) => runner.unwatch(id),
      } as never)) satisfies LiveSource['call'],
  });
  const worker = {
    query: async ({ sql, params }: SqlStatement) => {
      reads++;
      beforeRead.splice(0).forEach(write);
      return database.query(sql, params);
    },
  };
  const session = {
    live,
    call: async (run: (api: typeof worker) => unknown) => run(worker),
    beforeClose: () => undefined,
  };
  write(INSERT);
  const document = await openClientDocument<Content>(
    session as unknown as ClientSession,
    schema,
    'page',
    'p',
    'content',
    () => expect.unreachable(),
  );
  return {
    document,
    write,
    writeBeforeRead: (sql) => void beforeRead.push(sql),
    reads: () => reads,
    async runLiveQueries() {
      // The page asks for a query, and reads after its result, in steps of their own.
      await new Promise((resolve) => setTimeout(resolve));
      const run = round;
      round = null;
      run?.();
      await new Promise((resolve) => setTimeout(resolve));
    },
  };
}

it('a document whose row is deleted and comes back before its live query runs again is open', async () => {
  const { document, write, writeBeforeRead, runLiveQueries } = await openPage();
  writeBeforeRead('DELETE FROM page');
  await runLiveQueries();
  expect(document.current.state).toBe('gone');
  write(INSERT);
  await runLiveQueries();
  expect(document.current).toMatchObject({ state: 'open', value: { body: 'low tide' } });
});

it('a document is not read again after a commit to another row', async () => {
  const { write, reads, runLiveQueries } = await openPage();
  await runLiveQueries();
  const before = reads();
  write(`INSERT INTO page (id, content) VALUES ('q', '{"body":"high tide"}')`);
  await runLiveQueries();
  expect(reads()).toBe(before);
});

/** A page that opens a document without a worker. `shown` holds what the tab shows for its place. */
async function openPlain(): Promise<{
  open: () => Promise<LiveDocument<Content>>;
  shown: () => unknown;
  closeClient: () => void;
  problems: readonly unknown[];
}> {
  let [shown, isClosed] = [null as unknown, false];
  const problems: unknown[] = [];
  const onClose: (() => void)[] = [];
  const session = {
    live: { live: () => ({ subscribe: () => () => undefined }) },
    call: async () => ({
      names: ['text'],
      columns: [{ kind: 'mixed', values: ['{"body":"low tide"}'] }],
      rowCount: 1,
    }),
    write: async () => {
      if (isClosed) throw new RockpoolError('client-closed');
      return [];
    },
    beforeClose: (run: () => void) => void onClose.push(run),
    onProblem: ({ code, fields }: RockpoolError) => void problems.push([code, fields]),
    presence: {
      about: () => ({ current: [], subscribe: () => () => undefined, set: (state: unknown) => void (shown = state) }),
    },
  };
  return {
    open: () =>
      openClientDocument<Content>(session as unknown as ClientSession, schema, 'page', 'p', 'content', () =>
        expect.unreachable(),
      ),
    shown: () => shown,
    closeClient() {
      for (const run of onClose) run();
      isClosed = true;
    },
    problems,
  };
}

describe('two open documents of one place', () => {
  /** Lets the awareness of a document send its state. */
  const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

  it('show the tab until both are closed', async () => {
    const { open, shown } = await openPlain();
    const [first, second] = [await open(), await open()];
    first.awareness.setLocalStateField('busy', 'first');
    await settled();
    second.awareness.setLocalStateField('busy', 'second');
    await settled();
    expect(shown()).toMatchObject({ busy: 'second' });
    await second.close();
    expect(shown()).toMatchObject({ busy: 'first' });
    await first.close();
    expect(shown()).toBeNull();
  });

  it('show the state of the one that the user works in, while the text changes in both', async () => {
    const { open, shown } = await openPlain();
    const [idle, used] = [await open(), await open()];
    idle.awareness.setLocalStateField('busy', false);
    await settled();
    used.awareness.setLocalStateField('busy', true);
    await settled();
    // As after a commit, which changes both.
    for (const { doc } of [used, idle])
      doc.emit('update', [new Uint8Array(), 'rockpool: database', doc, null as never]);
    await settled();
    expect(shown()).toMatchObject({ busy: true });
  });
});

it('a change that an editor makes after its client was closed is reported', async () => {
  const { open, closeClient, problems } = await openPlain();
  const document = await open();
  closeClient();
  for (const word of ['very ', 'very ']) {
    document.text('body')?.insert(0, word);
    await expect(document.saved()).rejects.toMatchObject({ code: 'client-closed' });
  }
  expect(problems).toEqual([['client-closed', { closed: 'client' }]]);
});
