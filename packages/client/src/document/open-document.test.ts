import {
  applyChange,
  diffJson,
  parseJson,
  PathRule,
  type JsonChange,
  type JsonValue,
  type RichText,
} from '@rockpool/shared/document';
import { RockpoolError, type TableSchema } from '@rockpool/shared';
import { sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { afterEach, describe, expect, it, vi } from 'vitest';
import * as Y from 'yjs';
import { defineSchema } from '../schema/define-schema.ts';
import type { LiveDocument } from '../interface/live-document.ts';
import { openDocument, ruleOfDocument } from './open-document.ts';

interface Content {
  readonly body: string;
  readonly n: number;
  readonly note?: RichText;
  readonly cards?: readonly { readonly body: string; readonly id: string | number }[];
}

const page = sqliteTable('page', { id: text().primaryKey(), content: text() });
const table = defineSchema([page], {
  merge: [{ table: page, documents: [{ column: page.content, text: ['body', 'cards.*.body'], richText: ['note'] }] }],
}).tables.find(({ name }) => name === 'page') as TableSchema;
const rule = ruleOfDocument(table, 'content');
const path = PathRule.root(rule);

/** A page with the document open, on a database that others write to. */
async function openPage(
  initial: Content,
  isFlushed: () => boolean = () => true,
  isReadable: () => boolean = () => true,
  isWritable: () => boolean = () => true,
): Promise<{
  document: LiveDocument<Content>;
  body: () => Y.Text;
  stored: () => JsonValue;
  writeElsewhere: (next: Content) => Promise<void>;
}> {
  let stored: JsonValue = { ...initial };
  let tell = (): void => undefined;
  const take = (change: JsonChange | null): void => {
    if (change !== null) stored = applyChange(stored, change, path).value;
  };
  const document = await openDocument<Content>(
    {
      read: () =>
        isReadable() ? Promise.resolve(JSON.stringify(stored)) : Promise.reject(new RockpoolError('client-closed')),
      follow: (listener) => ((tell = listener), () => undefined),
      change: (changeJson) => {
        if (!isWritable()) return Promise.reject(new RockpoolError('storage-full'));
        take(JSON.parse(changeJson) as JsonChange);
        return isFlushed()
          ? Promise.resolve(JSON.stringify(stored))
          : Promise.reject(new RockpoolError('storage-unflushed'));
      },
      history: () => Promise.reject(new RockpoolError('history-not-kept')),
      presence: { set: () => undefined, current: [], subscribe: () => () => undefined },
    },
    { table, column: 'content' },
  );
  return {
    document,
    body: () => document.text('body') as Y.Text,
    stored: () => stored,
    writeElsewhere: async (next) => {
      await document.saved();
      take(diffJson(stored, parseJson(JSON.stringify(next), rule), path));
      tell();
      await document.saved();
    },
  };
}

afterEach(() => vi.restoreAllMocks());

it('an open document applies a change by SQL to its part of the Y.Doc only', async () => {
  const start = {
    body: 'The tide comes in. '.repeat(500),
    cards: Array.from({ length: 50 }, (_, index) => ({ body: `card ${index}`, id: `c${index}` })),
    n: 1,
  };
  const { document, body, writeElsewhere } = await openPage(start);
  const card = document.text('cards', { id: 'c7' }, 'body') as Y.Text;
  const read = vi.spyOn(Y.Text.prototype, 'toJSON');
  const changed = { ...start, cards: start.cards.with(7, { body: 'another card', id: 'c7' }) };
  await writeElsewhere(changed);
  expect(new Set(read.mock.contexts)).toEqual(new Set([card]));
  read.mockClear();
  await writeElsewhere({ ...changed, body: `${start.body}!`, n: 2 });
  expect(new Set(read.mock.contexts)).toEqual(new Set([body()]));
  expect(document.current.value).toEqual({ ...changed, body: `${start.body}!`, n: 2 });
});

describe('current and subscribe', () => {
  it('call a listener at once and after every change, and return the same object between changes', async () => {
    const { document, body, writeElsewhere } = await openPage({ body: 'tide', n: 1 });
    const seen: unknown[] = [];
    const unsubscribe = document.subscribe((current) => seen.push([current === document.current, current.value?.body]));
    expect(document.current).toBe(document.current);
    body().insert(0, 'low ');
    await document.saved();
    await writeElsewhere({ body: 'high tide', n: 1 });
    expect(seen).toEqual(['tide', 'low tide', 'high tide'].map((text) => [true, text]));
    unsubscribe();
    body().insert(0, 'very ');
    await document.saved();
    expect(seen).toHaveLength(3);
  });

  it('report the end of the document', async () => {
    const { document } = await openPage({ body: 'tide', n: 1 });
    const states: string[] = [];
    document.subscribe(({ state }) => states.push(state));
    await document.close();
    expect(states).toEqual(['open', 'closed']);
  });
});

it('an open document reports an unflushed change and does not repeat it', async () => {
  let isFlushed = false;
  const { document, body, stored } = await openPage({ body: 'tide', n: 1 }, () => isFlushed);
  body().insert(0, 'spring ');
  const saved = document.saved();
  await Promise.resolve();
  body().insert(0, 'low ');
  await expect(saved).rejects.toMatchObject({ code: 'storage-unflushed' });
  isFlushed = true;
  body().insert(0, 'a ');
  await document.saved();
  expect([stored(), document.current.value]).toEqual([1, 2].map(() => ({ body: 'a low spring tide', n: 1 })));
});

it.each(['saved', 'close'] as const)('%s() tries a write that has failed again', async (call) => {
  let isWritable = false;
  const { document, body, stored } = await openPage(
    { body: 'tide', n: 1 },
    () => true,
    () => true,
    () => isWritable,
  );
  body().insert(0, 'spring ');
  await expect(document.saved()).rejects.toMatchObject({ code: 'storage-full' });
  isWritable = true;
  await document[call]();
  expect(stored()).toEqual({ body: 'spring tide', n: 1 });
  expect(document.current.error).toBeNull();
});

it('an open document reports a failed read, and still closes without losing changes', async () => {
  let isReadable = true;
  const { document, body, writeElsewhere } = await openPage({ body: 'tide', n: 1 }, undefined, () => isReadable);
  body().insert(0, 'spring ');
  await document.saved();
  isReadable = false;
  await writeElsewhere({ body: 'spring tide', n: 2 });
  expect(document.current.error).toMatchObject({ code: 'client-closed' });
  await document.close();
});

it('saved() rejects until a change typed during failed reads is written', async () => {
  let isReadable = (): boolean => true;
  const { document, body, stored, writeElsewhere } = await openPage({ body: 'tide', n: 1 }, undefined, () =>
    isReadable(),
  );
  isReadable = () => {
    body().insert(0, 'spring ');
    return false;
  };
  await expect(writeElsewhere({ body: 'tide', n: 2 })).rejects.toMatchObject({ code: 'client-closed' });
  isReadable = () => true;
  body().insert(0, 'low ');
  await document.saved();
  expect(stored()).toEqual({ body: 'low spring tide', n: 2 });
});

describe('undo of an open document', () => {
  it('undoes local typing and keeps what others typed into it', async () => {
    const { document, body, stored, writeElsewhere } = await openPage({ body: 'tide', n: 1 });
    body().insert(0, 'low spring ');
    await writeElsewhere({ body: 'low (very) spring tides', n: 1 });
    document.undoManager.stopCapturing();
    body().insert(0, 'a ');
    const seen: JsonValue[] = [];
    const { undoManager } = document;
    for (const step of [
      () => undoManager.undo(),
      () => undoManager.undo(),
      () => undoManager.redo(),
      () => undoManager.redo(),
    ]) {
      step();
      await document.saved();
      seen.push(stored());
    }
    expect(seen).toEqual(
      ['low (very) spring tides', '(very) tides', 'low (very) spring tides', 'a low (very) spring tides'].map(
        (text) => ({ body: text, n: 1 }),
      ),
    );
  });

  it('does not restore what others deleted', async () => {
    const { document, body, stored, writeElsewhere } = await openPage({ body: 'tide', n: 1 });
    body().insert(0, 'low ');
    await writeElsewhere({ body: 'tide', n: 1 });
    document.undoManager.undo();
    await document.saved();
    expect(stored()).toEqual({ body: 'tide', n: 1 });
  });

  it('keeps a value that others have written since', async () => {
    const { document, stored, writeElsewhere } = await openPage({ body: '', n: 1 });
    document.change((value) => ({ ...value, n: 2 }));
    await writeElsewhere({ body: '', n: 3 });
    document.undoManager.undo();
    await document.saved();
    expect(stored()).toEqual({ body: '', n: 3 });
  });

  it('has no steps for changes of others', async () => {
    const { document, stored, writeElsewhere } = await openPage({ body: '', n: 1 });
    await writeElsewhere({ body: 'theirs', n: 2 });
    expect(document.undoManager.undo()).toBeNull();
    await document.saved();
    expect(stored()).toEqual({ body: 'theirs', n: 2 });
  });

  it('undoes local formats and keeps what others typed into them', async () => {
    const { document, stored, writeElsewhere } = await openPage({ body: '', n: 1, note: [{ insert: 'low tide' }] });
    document.text('note')?.format(0, 8, { bold: true });
    await document.saved();
    expect(stored()).toEqual({ body: '', n: 1, note: [{ insert: 'low tide', attributes: { bold: true } }] });
    await writeElsewhere({ body: '', n: 1, note: [{ insert: 'low spring tide', attributes: { bold: true } }] });
    document.undoManager.undo();
    await document.saved();
    expect(stored()).toEqual({ body: '', n: 1, note: [{ insert: 'low spring tide' }] });
  });
});

describe('the texts of an open document', () => {
  it('are found by their path, including inside keyed elements', async () => {
    const { document } = await openPage({ body: 'tide', n: 1, note: [{ insert: 'ebb' }] });
    expect([
      document.text('body')?.toJSON(),
      document.text('note')?.toJSON(),
      document.text('n'),
      document.text('nothing', 'more'),
    ]).toEqual(['tide', 'ebb', null, null]);
    document.change((value) => ({
      ...value,
      cards: [
        { id: 'x', body: 'low' },
        { id: 7, body: 'high' },
      ],
    }));
    expect(
      [{ id: 'x' }, { id: 7 }, { id: '7' }, 0].map((step) => document.text('cards', step, 'body')?.toJSON() ?? null),
    ).toEqual(['low', 'high', null, null]);
  });

  it('report content that JSON cannot express and keep the document from being written', async () => {
    const { document, stored } = await openPage({ body: '', n: 1, note: [{ insert: 'ebb' }] });
    const note = document.text('note') as Y.Text;
    note.insertEmbed(0, { image: 'tide.png' });
    await expect(document.saved()).rejects.toMatchObject({ code: 'document-invalid' });
    expect(document.current.error).toMatchObject({ code: 'document-invalid' });
    note.delete(0, 1);
    note.insert(0, 'low ');
    await document.saved();
    expect(stored()).toEqual({ body: '', n: 1, note: [{ insert: 'low ebb' }] });
  });
});
