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

const yes = (): boolean => true;

type DatabaseState = Record<
  'isThere' | 'isFlushed' | 'isReadable' | 'isRunning' | 'isReached' | 'isWritable' | 'isAnswered' | 'isClientOpen',
  () => boolean
>;

/** A page with the document open, on a database that others write to. */
async function openPage(
  initial: Content,
  {
    isThere = yes,
    isFlushed = yes,
    isReadable = yes,
    isRunning = yes,
    isReached = yes,
    isWritable = yes,
    isAnswered = yes,
    isClientOpen = yes,
  }: Partial<DatabaseState> = {},
  shown: (state: unknown) => void = () => undefined,
): Promise<{
  document: LiveDocument<Content>;
  body: () => Y.Text;
  stored: () => JsonValue;
  tell: () => void;
  /** The page or the client is about to end. */
  end: () => void;
  /** The codes of the errors that no call of the app reports. */
  problems: readonly string[];
  /** Writes without a notice to the page. */
  writeUnseen: (next: Content) => void;
  writeElsewhere: (next: Content) => Promise<void>;
}> {
  let stored: JsonValue = { ...initial };
  let tell = (): void => undefined;
  let end = (): void => undefined;
  const done = new Set<string>();
  const problems: string[] = [];
  const take = (change: JsonChange | null): void => {
    if (change !== null) stored = applyChange(stored, change, path).value;
  };
  const document = await openDocument<Content>(
    {
      read: () =>
        isReadable()
          ? Promise.resolve(isThere() ? JSON.stringify(stored) : null)
          : Promise.reject(new RockpoolError('client-closed')),
      follow: (listener) => ((tell = listener), () => undefined),
      beforeEnd: (listener) => ((end = listener), () => (end = () => undefined)),
      change: (changeJson, requestId) => {
        if (!isClientOpen()) return Promise.reject(new RockpoolError('client-closed', { closed: 'client' }));
        if (!isRunning()) return Promise.reject(new RockpoolError('worker-stuck'));
        if (!isReached()) return Promise.reject(new RockpoolError('storage-busy'));
        if (!isWritable()) return Promise.reject(new RockpoolError('storage-full'));
        if (!isThere()) return Promise.reject(new RockpoolError('document-gone'));
        if (!done.has(requestId)) take(JSON.parse(changeJson) as JsonChange);
        done.add(requestId);
        if (!isAnswered()) return Promise.reject(new RockpoolError('leader-unreachable', { timesAsked: 5 }));
        return isFlushed()
          ? Promise.resolve(JSON.stringify(stored))
          : Promise.reject(new RockpoolError('storage-unflushed'));
      },
      history: () => Promise.reject(new RockpoolError('history-not-kept')),
      onProblem: ({ code }) => void problems.push(code),
      presence: { set: shown, current: [], subscribe: () => () => undefined },
    },
    { table, column: 'content' },
  );
  const writeUnseen = (next: Content): void => take(diffJson(stored, parseJson(JSON.stringify(next), rule), path));
  return {
    document,
    body: () => document.text('body') as Y.Text,
    stored: () => stored,
    tell: () => tell(),
    end: () => end(),
    problems,
    writeUnseen,
    writeElsewhere: async (next) => {
      await document.saved();
      writeUnseen(next);
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

it('saved() rejects if a change cannot be written that was made during an earlier write', async () => {
  let isWritable = true;
  const { document, body, stored } = await openPage({ body: 'tide', n: 1 }, { isWritable: () => isWritable });
  body().insert(0, 'spring ');
  const saved = document.saved();
  await Promise.resolve();
  body().insert(0, 'low ');
  isWritable = false;
  await expect(saved).rejects.toMatchObject({ code: 'storage-full' });
  expect(stored()).toEqual({ body: 'spring tide', n: 1 });
});

it.each([true, false])(
  'an open document reports an unflushed change and does not repeat it (readable: %s)',
  async (read) => {
    let [isFlushed, isReadable] = [false, true];
    const { document, body, stored } = await openPage(
      { body: 'tide', n: 1 },
      { isFlushed: () => isFlushed, isReadable: () => isReadable },
    );
    isReadable = read;
    body().insert(0, 'spring ');
    const saved = document.saved();
    await Promise.resolve();
    body().insert(0, 'low ');
    await expect(saved).rejects.toMatchObject({ code: read ? 'storage-unflushed' : 'client-closed' });
    [isFlushed, isReadable] = [true, true];
    body().insert(0, 'a ');
    await document.saved();
    expect([stored(), document.current.value]).toEqual([1, 2].map(() => ({ body: 'a low spring tide', n: 1 })));
  },
);

it('an open document sends what was typed during a write or a read when the page ends', async () => {
  const writing = await openPage({ body: 'tide', n: 1 });
  writing.body().insert(0, 'spring ');
  await Promise.resolve();
  writing.body().insert(0, 'low ');
  writing.end();
  expect(writing.stored()).toEqual({ body: 'low spring tide', n: 1 });

  const reading = await openPage({ body: 'tide', n: 1 });
  reading.tell();
  await Promise.resolve();
  reading.body().insert(0, 'high ');
  reading.end();
  expect(reading.stored()).toEqual({ body: 'high tide', n: 1 });
});

it('an open document repeats a change whose outcome is unknown when the page ends', async () => {
  let isRunning = false;
  const { document, body, stored, end } = await openPage({ body: 'tide', n: 1 }, { isRunning: () => isRunning });
  body().insert(0, 'spring ');
  const saved = document.saved();
  await Promise.resolve();
  body().insert(0, 'low ');
  await expect(saved).rejects.toMatchObject({ code: 'worker-stuck' });
  isRunning = true;
  end();
  expect(stored()).toEqual({ body: 'low spring tide', n: 1 });
});

it('an open document writes a change with an unknown outcome once, and then what was typed after it', async () => {
  let isAnswered = false;
  const { document, body, stored, writeUnseen } = await openPage(
    { body: 'tide', n: 1 },
    { isAnswered: () => isAnswered },
  );
  body().insert(0, 'spring ');
  const saved = document.saved();
  await Promise.resolve();
  body().insert(0, 'low ');
  await expect(saved).rejects.toMatchObject({ code: 'leader-unreachable' });
  writeUnseen({ body: 'spring tides', n: 1 });
  await expect(document.saved()).rejects.toMatchObject({ code: 'leader-unreachable' });
  isAnswered = true;
  await document.saved();
  expect([stored(), document.current.value]).toEqual([1, 2].map(() => ({ body: 'low spring tides', n: 1 })));
});

it('a change whose outcome is unknown is written once even if its repetition fails temporarily', async () => {
  let isAnswered = false;
  let isReached = true;
  const { document, body, stored } = await openPage(
    { body: 'tide', n: 1 },
    { isAnswered: () => isAnswered, isReached: () => isReached },
  );
  body().insert(0, 'spring ');
  await expect(document.saved()).rejects.toMatchObject({ code: 'leader-unreachable' });
  isReached = false;
  await expect(document.saved()).rejects.toMatchObject({ code: 'storage-busy' });
  isReached = isAnswered = true;
  await document.saved();
  expect(stored()).toEqual({ body: 'spring tide', n: 1 });
  expect(document.current.value).toEqual(stored());
});

it('a change whose outcome is unknown is written once even if its row is deleted and comes back', async () => {
  let isAnswered = false;
  let isThere = true;
  const { document, body, stored, tell } = await openPage(
    { body: 'tide', n: 1 },
    { isAnswered: () => isAnswered, isThere: () => isThere },
  );
  body().insert(0, 'spring ');
  await expect(document.saved()).rejects.toMatchObject({ code: 'leader-unreachable' });
  [isAnswered, isThere] = [true, false];
  await expect(document.saved()).rejects.toMatchObject({ code: 'document-gone' });
  body().insert(0, 'low ');
  isThere = true;
  tell();
  await document.saved();
  expect(document.current).toMatchObject({ state: 'open', error: null, value: { body: 'low spring tide', n: 1 } });
  expect(stored()).toEqual({ body: 'low spring tide', n: 1 });
});

it('an open document does not repeat a committed change if the page cannot show the result', async () => {
  const { document, body, stored, writeUnseen } = await openPage({ body: 'tide', n: 1, note: [{ insert: 'ebb' }] });
  const note = document.text('note') as Y.Text;
  writeUnseen({ body: 'tide', n: 2, note: [{ insert: 'ebb' }] });
  body().insert(0, 'spring ');
  const saved = document.saved();
  await Promise.resolve();
  note.insertEmbed(0, { image: 'tide.png' });
  await expect(saved).rejects.toMatchObject({ code: 'document-invalid' });
  note.delete(0, 1);
  await document.saved();
  const both = { body: 'spring tide', n: 2, note: [{ insert: 'ebb' }] };
  expect([stored(), document.current.value]).toEqual([both, both]);
});

it.each(['saved', 'close'] as const)('%s() retries a failed write', async (call) => {
  let isWritable = false;
  const { document, body, stored } = await openPage({ body: 'tide', n: 1 }, { isWritable: () => isWritable });
  body().insert(0, 'spring ');
  await expect(document.saved()).rejects.toMatchObject({ code: 'storage-full' });
  isWritable = true;
  await document[call]();
  expect(stored()).toEqual({ body: 'spring tide', n: 1 });
  expect(document.current.error).toBeNull();
});

it('an open document reports a failed read, and still closes without losing changes', async () => {
  let isReadable = true;
  const { document, body, writeElsewhere } = await openPage({ body: 'tide', n: 1 }, { isReadable: () => isReadable });
  body().insert(0, 'spring ');
  await document.saved();
  isReadable = false;
  await writeElsewhere({ body: 'spring tide', n: 2 });
  expect(document.current.error).toMatchObject({ code: 'client-closed' });
  await document.close();
});

it('saved() reads again after a failed read', async () => {
  let isReadable = true;
  const { document, writeElsewhere } = await openPage({ body: 'tide', n: 1 }, { isReadable: () => isReadable });
  isReadable = false;
  await writeElsewhere({ body: 'tide', n: 2 });
  isReadable = true;
  await document.saved();
  expect(document.current).toMatchObject({ error: null, value: { body: 'tide', n: 2 } });
});

it.each(['before', 'after'] as const)('saved() rejects if a change was made %s the document was gone', async (when) => {
  let isThere = true;
  const { document, body, tell } = await openPage({ body: 'tide', n: 1 }, { isThere: () => isThere });
  isThere = false;
  if (when === 'before') body().insert(0, 'low ');
  await document.saved().catch(() => undefined);
  tell();
  await document.saved().catch(() => undefined);
  if (when === 'after') body().insert(0, 'low ');
  expect(document.current.state).toBe('gone');
  await expect(document.saved()).rejects.toMatchObject({ code: 'document-gone' });
  await expect(document.close()).rejects.toMatchObject({ code: 'document-gone' });
});

it.each(['before', 'after'] as const)(
  'a document that comes back shows its new content, and a change made %s it was gone is written',
  async (when) => {
    let isThere = true;
    const { document, body, stored, tell, writeUnseen } = await openPage(
      { body: 'tide', n: 1 },
      { isThere: () => isThere },
    );
    isThere = false;
    if (when === 'before') body().insert(0, 'low ');
    tell();
    await document.saved().catch(() => undefined);
    expect(document.current).toMatchObject({ state: 'gone', value: null });
    if (when === 'after') body().insert(0, 'low ');
    isThere = true;
    writeUnseen({ body: 'tides', n: 2 });
    tell();
    await document.saved();
    expect(document.current).toMatchObject({ state: 'open', error: null, value: { body: 'low tides', n: 2 } });
    expect(stored()).toEqual({ body: 'low tides', n: 2 });
    await document.close();
  },
);

it('a change that fails when the page or the client ends is reported', async () => {
  let isWritable = true;
  const { document, body, end, problems } = await openPage(
    { body: 'tide', n: 1, note: [{ insert: 'ebb' }] },
    { isWritable: () => isWritable },
  );
  body().insert(0, 'spring ');
  await Promise.resolve();
  body().insert(0, 'low ');
  isWritable = false;
  end();
  await document.saved().catch(() => undefined);
  expect(problems).toEqual(['storage-full']);
  document.text('note')?.insertEmbed(0, { image: 'tide.png' });
  end();
  expect(problems).toEqual(['storage-full', 'document-invalid']);
});

describe('a closed document', () => {
  it('reports the first change that an editor makes in its Y.Doc', async () => {
    const { document, body, problems } = await openPage({ body: 'tide', n: 1 });
    const errors: unknown[] = [];
    document.subscribe(({ state, error }) => errors.push([state, (error as RockpoolError | null)?.code]));
    const text = body();
    await document.close();
    await document.saved();
    text.insert(0, 'spring ');
    text.insert(0, 'low ');
    expect(problems).toEqual(['client-closed']);
    expect(errors.slice(-2)).toEqual([
      ['closed', undefined],
      ['closed', 'client-closed'],
    ]);
    await expect(document.saved()).rejects.toMatchObject({ code: 'client-closed', fields: { closed: 'document' } });
  });

  it('reports a change that was made just as its last write ended', async () => {
    const { document, body, stored, problems } = await openPage({ body: 'tide', n: 1 });
    body().insert(0, 'spring ');
    const typed = document.saved().then(() => body().insert(0, 'low '));
    await document.close();
    await typed;
    expect([stored(), problems]).toEqual([{ body: 'spring tide', n: 1 }, ['client-closed']]);
  });

  it('keeps the reason why its last change was not written', async () => {
    let isThere = true;
    const { document, body } = await openPage({ body: 'tide', n: 1 }, { isThere: () => isThere });
    isThere = false;
    body().insert(0, 'low ');
    const closing = document.close();
    expect(document.close()).toBe(closing);
    await expect(closing).rejects.toMatchObject({ code: 'document-gone' });
    await expect(document.saved()).rejects.toMatchObject({ code: 'document-gone' });
  });

  it('shows nobody its awareness', async () => {
    const shown = vi.fn<(state: unknown) => void>();
    const { document } = await openPage({ body: 'tide', n: 1 }, {}, shown);
    await document.close();
    document.awareness.setLocalStateField('cursor', null);
    await document.saved();
    await Promise.resolve();
    expect(shown).not.toHaveBeenCalled();
  });
});

describe('change', () => {
  it('is refused by a closed document, which could not write it', async () => {
    const { document } = await openPage({ body: 'tide', n: 1 });
    await document.close();
    const changing = (): void => document.change((now) => ({ ...now, n: 2 }));
    expect(changing).toThrow(expect.objectContaining({ code: 'client-closed', fields: { closed: 'document' } }));
  });

  it.each([
    ['a member that is undefined', { n: undefined }],
    ['a number that is not finite', { n: NaN }],
    ['a forbidden key', JSON.parse('{"__proto__":1}') as object],
    ['half of a character', { body: '\ud83d' }],
    ['a rich text without runs', { body: 'low', note: [{ bold: true }] }],
  ])('throws for %s and changes nothing', async (_, wrong) => {
    const { document, body, stored } = await openPage({ body: 'tide', n: 1, note: [{ insert: 'ebb' }] });
    const change = (): void => document.change((value) => ({ ...value, ...wrong }) as Content);
    expect(change).toThrow(expect.objectContaining({ code: 'document-invalid' }));
    body().insert(0, 'low ');
    await document.saved();
    expect(stored()).toEqual({ body: 'low tide', n: 1, note: [{ insert: 'ebb' }] });
  });
});

it('saved() rejects until a change typed during failed reads is written', async () => {
  let isReadable = (): boolean => true;
  const { document, body, stored, writeElsewhere } = await openPage(
    { body: 'tide', n: 1 },
    { isReadable: () => isReadable() },
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

  it('undoes what an editor typed under an origin of its own', async () => {
    const { document, body, stored } = await openPage({ body: 'tide', n: 1 });
    document.doc.transact(() => body().insert(0, 'low '), { editor: 'any' });
    document.undoManager.undo();
    await document.saved();
    expect(stored()).toEqual({ body: 'tide', n: 1 });
    document.undoManager.redo();
    await document.saved();
    expect(stored()).toEqual({ body: 'low tide', n: 1 });
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
    expect(document.current).toMatchObject({
      error: { code: 'document-invalid' },
      value: { body: '', n: 1, note: [{ insert: 'ebb' }] },
    });
    note.delete(0, 1);
    note.insert(0, 'low ');
    await document.saved();
    expect(stored()).toEqual({ body: '', n: 1, note: [{ insert: 'low ebb' }] });
  });
});

it('saved() resolves when the changes made before it are written, though more follow without a pause', async () => {
  let type = (): void => undefined;
  const { document, body, stored } = await openPage({ body: '', n: 1 }, { isReached: () => (type(), true) });
  body().insert(0, 'a');
  // Each write finds the next character.
  type = () => body().insert(body().length, 'a');
  await document.saved();
  expect((stored() as unknown as Content).body).toMatch(/^a+$/);
  type = () => undefined;
  await document.saved();
  expect(stored()).toEqual(document.current.value);
});

it('saved() does not reject with the error of an earlier attempt while later changes follow', async () => {
  let [type, isWritable] = [(): void => undefined, false];
  const { document, body } = await openPage(
    { body: '', n: 1 },
    { isReached: () => (type(), true), isWritable: () => isWritable },
  );
  body().insert(0, 'a');
  await expect(document.saved()).rejects.toMatchObject({ code: 'storage-full' });
  isWritable = true;
  type = () => body().insert(body().length, 'a');
  await document.saved();
  expect(document.current.error).toBeNull();
  type = () => undefined;
});

it('a document whose row comes back before the failure of a write arrives is open again', async () => {
  let isThere = true;
  const { document, body, stored, tell } = await openPage({ body: 'tide', n: 1 }, { isThere: () => isThere });
  isThere = false;
  body().insert(0, 'low ');
  await Promise.resolve();
  // The write has failed, and its answer is under way.
  isThere = true;
  tell();
  await document.saved();
  expect(document.current).toMatchObject({ state: 'open', error: null, value: { body: 'low tide', n: 1 } });
  expect(stored()).toEqual({ body: 'low tide', n: 1 });
});

it('a document that is gone is not read again without a commit if a read fails', async () => {
  let [isThere, isReadable, reads] = [true, true, 0];
  const { document, tell } = await openPage(
    { body: 'tide', n: 1 },
    { isThere: () => isThere, isReadable: () => (reads++, isReadable) },
  );
  isThere = false;
  tell();
  await document.saved();
  expect(document.current.state).toBe('gone');
  isReadable = false;
  tell();
  await document.saved().catch(() => undefined);
  const before = reads;
  await new Promise((resolve) => setTimeout(resolve));
  expect(reads).toBe(before);
});

describe('content of the Y.Doc outside of the document', () => {
  it.each<[string, (doc: Y.Doc) => void]>([
    ['in a root type of an editor', (doc) => doc.getText('other').insert(0, 'low')],
    ['in another kind of root type', (doc) => doc.getXmlFragment('prosemirror').push([new Y.XmlText('low')])],
    ['in a root map', (doc) => doc.getMap('other').set('n', 2)],
    ['beside the JSON', (doc) => doc.getMap('json').set('other', 2)],
  ])('%s is reported once', async (_, write) => {
    const { document, body, stored, problems } = await openPage({ body: 'tide', n: 1 });
    write(document.doc);
    write(document.doc);
    body().insert(0, 'low ');
    await document.saved();
    expect([stored(), problems]).toEqual([{ body: 'low tide', n: 1 }, ['document-invalid']]);
  });

  it('is not reported before there is any', async () => {
    const { document, body, problems } = await openPage({ body: 'tide', n: 1 });
    document.doc.getText('other');
    body().insert(0, 'low ');
    await document.saved();
    expect(problems).toEqual([]);
  });
});

describe('a Y.Doc that the app destroys', () => {
  it('closes its document, after what was typed is written', async () => {
    const { document, body, stored, problems } = await openPage({ body: 'tide', n: 1 });
    const text = body();
    text.insert(0, 'spring ');
    document.doc.destroy();
    text.insert(0, 'low ');
    await document.close();
    expect(stored()).toEqual({ body: 'low spring tide', n: 1 });
    expect([document.current.state, document.doc.isDestroyed, problems]).toEqual(['closed', true, []]);
    document.doc.destroy();
    text.insert(0, 'very ');
    expect(problems).toEqual(['client-closed']);
  });

  it('reports what cannot be written', async () => {
    const { document, body, problems } = await openPage({ body: 'tide', n: 1 }, { isWritable: () => false });
    body().insert(0, 'low ');
    document.doc.destroy();
    await document.close().catch(() => undefined);
    await Promise.resolve();
    expect(problems).toEqual(['storage-full']);
  });
});

it('the first change is reported that an editor makes after the client was closed', async () => {
  let isClientOpen = true;
  const { document, body, end, stored, problems } = await openPage(
    { body: 'tide', n: 1 },
    { isClientOpen: () => isClientOpen },
  );
  body().insert(0, 'spring ');
  await Promise.resolve();
  body().insert(0, 'low ');
  end();
  isClientOpen = false;
  // The page writes again what it has sent.
  await expect(document.saved()).rejects.toMatchObject({ code: 'client-closed' });
  expect([stored(), problems]).toEqual([{ body: 'low spring tide', n: 1 }, []]);
  body().insert(0, 'very ');
  await document.saved().catch(() => undefined);
  body().insert(0, 'very ');
  await document.saved().catch(() => undefined);
  expect(problems).toEqual(['client-closed']);
});

it('a change is reported that cannot be written because the app leaves the database', async () => {
  let isClientOpen = true;
  const { document, body, end, problems } = await openPage(
    { body: 'tide', n: 1 },
    { isClientOpen: () => isClientOpen },
  );
  body().insert(0, 'spring ');
  await Promise.resolve();
  body().insert(0, 'low ');
  isClientOpen = false;
  end();
  await document.saved().catch(() => undefined);
  expect(problems).toEqual(['client-closed']);
});
