import type { RowVersion } from '#client/index.ts';
import { createClient, inProcess } from '#client/node/index.ts';
import { defineSchema, versionName } from '#client/schema/index.ts';
import { temporaryFolder } from '#kit/temporary-folder.ts';
import { createSyncServer } from '#sync-server/index.ts';
import { integer, sqliteTable, text } from '../../packages/client/node_modules/drizzle-orm/sqlite-core/index.js';
import { expect, it, onTestFinished } from 'vitest';

const entry = sqliteTable('entry', {
  id: text().primaryKey(),
  amount: integer().notNull(),
  note: text(),
});
const page = sqliteTable('page', {
  id: text().primaryKey(),
  content: text(),
});
const schema = defineSchema(
  { entry, page, versionName },
  {
    history: [entry, { table: page, retainedDays: 365 }],
    merge: [{ table: page, documents: [{ column: page.content, text: ['body'] }] }],
  },
);

it('the code of the history guide runs', async () => {
  const server = createSyncServer({
    dataDir: temporaryFolder(),
    schema,
    secret: 'a secret of this test, long enough',
    log: () => undefined,
  });
  const client = await createClient({
    name: 'budget',
    schema,
    sync: {
      url: 'ws://in-process',
      transport: inProcess(server),
      databaseId: 'budget',
      token: () => server.issueToken({ principal: 'ann', databases: ['budget'], ttlMs: 3_600_000 }),
    },
  });
  onTestFinished(async () => {
    await client.close();
    await server.close();
  });
  const entryId = 'e';
  const pageId = 'p';
  await client.execute('INSERT INTO entry (id, amount, note) VALUES (?, 4210, ?)', [entryId, 'market']);
  await client.execute('UPDATE entry SET amount = 4190').synced;

  const history = await client.history('entry', entryId);
  const { versions, next, isTruncated } = await history.page();
  for (const { author, writtenMs, changes } of versions) {
    const columns = changes.map(({ column, before, after }) => `${column}: ${String(before)} → ${String(after)}`);
    console.info(author, new Date(writtenMs), columns.join(', '));
  }
  expect({ count: versions.length, next, isTruncated }).toEqual({ count: 2, next: null, isTruncated: false });

  const previous = versions[1]?.version ?? null; // null if there is none, or while it is not sent
  if (previous === null) throw new Error('no earlier version');
  const row = await history.at(previous);
  await history.restore(previous, { columns: ['amount'] });
  await client.undo(); // reverts the restore
  expect(row).toEqual({ id: 'e', amount: 4210, note: 'market' });
  expect(await client.query('SELECT amount FROM entry')).toEqual([{ amount: 4190 }]);

  await history.name(versions[0] as RowVersion, 'before the move');
  const named = await history.at('before the move');
  await history.restore('before the move', { columns: ['amount'] });
  const then = await client.past({ table: 'entry', key: entryId, name: 'before the move' });
  expect(named).toEqual({ id: 'e', amount: 4190, note: 'market' });
  expect(await then.query('SELECT amount FROM entry')).toEqual([{ amount: 4190 }]);
  await then.close();

  await client.execute("INSERT INTO entry (id, amount) VALUES ('i', 1)").synced;
  // The server corrects the time of writing by its own clock.
  const [imported] = (await (await client.history('entry', 'i')).page()).versions;
  const importedMs = imported?.writtenMs ?? 0;
  const plan = await client.planRestore({ author: 'ann', fromMs: importedMs, toMs: importedMs + 60_000 });
  const shown = plan.rows.map(({ table, key, kind }) => `${kind} ${table} ${key.join()}`);
  if (plan.conflicts.length === 0) await plan.apply();
  expect(shown).toContain('delete entry i');

  const stop = history.subscribe(({ versions: newest, source, completeUntilMs }) => {
    console.info(newest.length, source === 'server' ? 'all versions' : `up to ${String(completeUntilMs)}`);
  });
  stop();

  await client.execute('INSERT INTO page (id, content) VALUES (?, ?)', [pageId, '{"body":"Monday"}']).synced;
  await client.execute('UPDATE page SET content = ?', ['{"body":"Friday"}']).synced;
  const document = (await client.history('page', pageId)).document<{ body: string }>('content');
  const [last] = (await document.page({ pauseMs: 10 * 60_000 })).versions;
  expect(last).toMatchObject({ author: 'ann', count: 2 });

  const edits = await document.page({ pauseMs: 0 });
  const [newer, older] = edits.versions.map(({ version }) => version ?? 0) as [number, number];
  const before = await document.at(older);
  const operations = await document.diff(older, newer);
  await document.restore(older);
  await document.restore(newer, { path: ['body'] });
  expect(before).toEqual({ body: 'Monday' });
  expect(operations).toMatchObject([
    { op: 'replace', path: '/body', text: [{ at: 0, removed: 'Mon', inserted: 'Fri' }] },
  ]);

  const lastMonthMs = Date.now();
  const past = await client.past({ time: new Date(lastMonthMs) });
  const totals = await past.query('SELECT count(*) AS entries, sum(amount) AS total FROM entry');
  await past.close();
  // The restore may also have reverted an earlier write of the same millisecond, so the totals are not fixed.
  expect(totals).toEqual(await client.query('SELECT count(*) AS entries, sum(amount) AS total FROM entry'));
});
