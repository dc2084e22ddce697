import { sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Client } from '../client.ts';
import { createClient, sql } from '../index.ts';
import { defineSchema } from '../schema/index.ts';
import { freshName } from '../../testing/browser-tabs.ts';
import { openDevtools, type Devtools } from './index.ts';

const note = sqliteTable('note', { id: text().primaryKey(), body: text() });

let client: Client | null = null;
let devtools: Devtools | null = null;

async function open(): Promise<{ root: ShadowRoot; show: (title: string) => void; text: () => string }> {
  client = await createClient({ name: freshName(), schema: defineSchema({ note }) });
  await client.execute(sql`INSERT INTO note VALUES ('a', 'a note <b>')`);
  devtools = openDevtools(client);
  const root = document.body.lastElementChild?.shadowRoot;
  if (root === null || root === undefined) throw new Error('the devtools are not on the page');
  const show = (title: string): void =>
    [...root.querySelectorAll('button')].find(({ textContent }) => textContent === title)?.click();
  return { root, show, text: () => root.querySelector('main')?.textContent ?? '' };
}

afterEach(async () => {
  devtools?.close();
  await client?.close();
});

describe('devtools', () => {
  it('show tables and their rows as text', async () => {
    const { text: shown, root } = await open();
    await expect.poll(shown).toContain('a note <b>');
    expect(root.querySelector('b')).toBe(null);
  });

  it('show a different table when the chosen view is dropped', async () => {
    const { show, text: shown } = await open();
    await client?.execute("CREATE VIEW scratch AS SELECT 'from the view' AS text");
    show('Tables');
    await expect.poll(shown).toContain('scratch');
    show('scratch');
    await expect.poll(shown).toContain('from the view');
    await client?.execute('DROP VIEW scratch');
    await expect.poll(shown).toContain('a note <b>');
  });

  it('run SQL and show its errors', async () => {
    const { root, show, text: shown } = await open();
    show('SQL');
    await expect.poll(() => root.querySelector('textarea')).not.toBe(null);
    const input = root.querySelector('textarea') as HTMLTextAreaElement;
    input.value = "UPDATE note SET body = 'changed' RETURNING body";
    show('Run');
    await expect.poll(shown).toContain('changed');
    input.value = "SELECT count(*) FROM note WHERE body LIKE '%b%'";
    show('Explain');
    await expect.poll(shown).toContain('noteoperatorsall');
    input.value = 'SELECT body FROM note ORDER BY id DESC';
    show('Explain');
    await expect.poll(shown).toContain('rows in descending order');
    input.value = "SELECT value FROM json_each('[1]')";
    show('Explain');
    await expect.poll(shown).toContain('virtual table');
    input.value = 'SELECT nothing';
    show('Run');
    await expect.poll(shown).toContain('SQLite rejected this statement');
  });

  it('run a query without a write', async () => {
    const { root, show, text: shown } = await open();
    await client?.undo();
    show('SQL');
    await expect.poll(() => root.querySelector('textarea')).not.toBe(null);
    (root.querySelector('textarea') as HTMLTextAreaElement).value = 'SELECT 7 AS seven';
    show('Run');
    await expect.poll(shown).toContain('seven7');
    expect(await client?.redo()).toBe(true);
  });

  it('show changelog, live queries, tabs and sync', async () => {
    const { show, text: shown } = await open();
    show('Changelog');
    await expect.poll(shown).toContain('1 pending, 0 rejected');
    client?.live('SELECT body FROM note').subscribe(() => undefined);
    show('Live queries');
    await expect.poll(shown).toContain('SELECT body FROM note');
    await expect.poll(shown).toContain('note: operators, in batches');
    show('Tabs');
    await expect.poll(shown).toContain('leads');
    show('Sync');
    await expect.poll(shown).toContain('offline');
    expect(shown()).toContain('may write');
  });

  it('count only the tabs of their own database', async () => {
    const { root, show } = await open();
    const other = await createClient({ name: `${client?.name}-2`, schema: defineSchema({ note }) });
    show('Tabs');
    await expect.poll(() => root.querySelectorAll('tbody tr').length).toBe(1);
    await other.close();
  });

  it('do not draw a panel again before its queries have ended', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { show, text: shown } = await open();
    show('Changelog');
    await expect.poll(shown).toContain('1 pending');
    const query = vi.spyOn(client as Client, 'query').mockReturnValue(new Promise(() => undefined));
    vi.advanceTimersByTime(5_000);
    expect(query).toHaveBeenCalledTimes(1);
    vi.useRealTimers();
  });

  it('leave the page unchanged', async () => {
    const before = document.body.childElementCount;
    await open();
    devtools?.close();
    expect(document.body.childElementCount).toBe(before);
  });
});
