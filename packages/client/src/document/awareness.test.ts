import { PathRule, writeJson, type JsonValue } from '@rockpool/shared/document';
import { DEFAULT_DOCUMENT_RULE } from '@rockpool/shared';
import { afterEach, describe, expect, it, vi } from 'vitest';
import * as Y from 'yjs';
import type { Peer, Presence } from '../interface/presence.ts';
import { createAwareness } from './awareness.ts';

const path = PathRule.root({ ...DEFAULT_DOCUMENT_RULE, text: ['body'] });

/** A page with the document open. `shown` holds the state that it shows. */
function openPage(value: JsonValue): {
  doc: Y.Doc;
  text: Y.Text;
  awareness: ReturnType<typeof createAwareness>;
  shown: () => unknown;
  hear: (...people: Peer[]) => void;
  settled: () => Promise<void>;
  write: (next: JsonValue) => void;
} {
  const doc = new Y.Doc();
  const write = (next: JsonValue): void => doc.transact(() => writeJson(doc, next, path), 'database');
  write(value);
  let shown: unknown = null;
  let tell: (people: readonly Peer[]) => void = () => undefined;
  const presence: Presence = {
    set: (state) => (shown = JSON.parse(JSON.stringify(state))),
    current: [],
    subscribe: (listener) => ((tell = listener), () => undefined),
  };
  const awareness = createAwareness(doc, { presence, whenSaved: () => Promise.resolve() });
  const text = (doc.getMap('json').get('value') as Y.Map<unknown>).get('body') as Y.Text;
  return {
    doc,
    text,
    awareness,
    shown: () => shown,
    hear: (...people) => tell(people),
    settled: () => new Promise((resolve) => setTimeout(resolve)),
    write,
  };
}

function select(page: ReturnType<typeof openPage>, anchor: number, head: number): void {
  page.awareness.setLocalStateField('cursor', {
    anchor: Y.createRelativePositionFromTypeIndex(page.text, anchor),
    head: Y.createRelativePositionFromTypeIndex(page.text, head),
  });
}

/** The position in this page of the only other cursor. */
function seenCursor(page: ReturnType<typeof openPage>): readonly (number | undefined)[] | null {
  const [, state] = [...page.awareness.getStates()].find(([id]) => id !== page.awareness.clientID) ?? [];
  const cursor = state?.['cursor'] as { anchor: Y.RelativePosition; head: Y.RelativePosition } | null | undefined;
  if (cursor === null || cursor === undefined) return null;
  return [cursor.anchor, cursor.head].map(
    (position) => Y.createAbsolutePositionFromRelativePosition(position, page.doc)?.index,
  );
}

const person = (state: unknown, changes: Partial<Peer> = {}): Peer => ({
  tabId: 'theirs',
  siteId: 's',
  principal: 'ben',
  name: 'Ben',
  color: 'green',
  sinceMs: 1,
  state,
  ...changes,
});

afterEach(() => void vi.unstubAllGlobals());

describe('the awareness of a document', () => {
  it('translates a cursor between pages, and the cursor moves with the text', async () => {
    const [mine, theirs] = [openPage({ body: 'low tide' }), openPage({ body: 'low tide' })];
    select(theirs, 4, 8);
    await theirs.settled();
    mine.hear(person(theirs.shown()));
    expect(seenCursor(mine)).toEqual([4, 8]);
    mine.text.insert(0, 'very ');
    expect(seenCursor(mine)).toEqual([9, 13]);
  });

  it('shows two sites whose tabs have the same id', () => {
    const page = openPage({ body: 'low tide' });
    page.hear(person({}), person({}, { siteId: 'other', principal: 'mal', name: 'Mal' }));
    const names = [...page.awareness.getStates()].flatMap(([id, state]) =>
      id === page.awareness.clientID ? [] : [(state['user'] as { name: string }).name],
    );
    expect(names).toEqual(['Ben', 'Mal']);
  });

  it('reports a state that cannot be sent as an uncaught error, even without a page', async () => {
    const refusal = new Error('refused');
    const uncaught = new Promise((resolve) => {
      vi.stubGlobal('queueMicrotask', (task: () => void) => {
        try {
          task();
        } catch (thrown) {
          resolve(thrown);
        }
      });
    });
    const presence: Presence = {
      set: () => {
        throw refusal;
      },
      current: [],
      subscribe: () => () => undefined,
    };
    createAwareness(new Y.Doc(), { presence, whenSaved: () => Promise.resolve() });
    expect(await uncaught).toBe(refusal);
  });

  it('places a cursor again once its text has arrived', async () => {
    const [mine, theirs] = [openPage({ body: 'low tide' }), openPage({ body: 'low tide' })];
    theirs.text.insert(4, 'spring ');
    select(theirs, 11, 11);
    await theirs.settled();
    mine.hear(person(theirs.shown()));
    mine.write({ body: 'low spring tide' });
    await mine.settled();
    expect(seenCursor(mine)).toEqual([11, 11]);
    mine.write({ body: 'a low spring tide' });
    await mine.settled();
    expect(seenCursor(mine)).toEqual([13, 13]);
  });

  it('sends the cursor again when others have moved it', async () => {
    const page = openPage({ body: 'low tide' });
    select(page, 4, 4);
    page.write({ body: 'very low tide' });
    await page.settled();
    expect(page.shown()).toMatchObject({ cursor: { path: ['value', 'body'], anchor: 9, head: 9, length: 13 } });
  });

  it('takes the user of others from the server, not from their state', async () => {
    const page = openPage({ body: '' });
    page.awareness.setLocalStateField('user', { name: 'anybody' });
    page.awareness.setLocalStateField('busy', true);
    await page.settled();
    expect(page.shown()).toEqual({ busy: true, cursor: null });
    page.hear(person({ user: { name: 'Ann', color: 'url(//evil.test)' }, busy: true }));
    const [, state] = [...page.awareness.getStates()].find(([id]) => id !== page.awareness.clientID) ?? [];
    expect(state).toEqual({
      busy: true,
      cursor: null,
      user: { name: 'Ben', principal: 'ben', color: 'green', colorLight: expect.stringMatching(/^oklch\(/) },
    });
  });

  it.each([
    null,
    'x',
    { cursor: 'x' },
    { cursor: { path: ['value', 'body'], anchor: -1, head: 0, length: 0 } },
    { cursor: { path: ['value', 'nothing'], anchor: 0, head: 0, length: 0 } },
    { cursor: { path: 'value', anchor: 0, head: 0, length: 0 } },
  ])('shows no cursor for %j', (state) => {
    const page = openPage({ body: '' });
    page.hear(person(state));
    expect(seenCursor(page)).toBeNull();
  });

  it('emits peers that were added, updated and removed', () => {
    const page = openPage({ body: '' });
    const changes: unknown[] = [];
    page.awareness.on('change', (change: unknown) => changes.push(change));
    page.hear(person({}));
    page.hear(person({ busy: true }));
    page.hear();
    const [id] = (changes[0] as { added: number[] }).added;
    expect(changes).toEqual([
      { added: [id], updated: [], removed: [] },
      { added: [], updated: [id], removed: [] },
      { added: [], updated: [], removed: [id] },
    ]);
    expect(page.awareness.getStates().size).toBe(1);
  });

  it('emits only after the change of a text is complete', async () => {
    const page = openPage({ body: 'low tide' });
    page.hear(person({ cursor: { path: ['value', 'body'], anchor: 8, head: 8, length: 9 } }));
    let isChanging = false;
    const during: boolean[] = [];
    page.awareness.on('change', () => during.push(isChanging));
    isChanging = true;
    page.text.insert(0, 'a');
    isChanging = false;
    await page.settled();
    expect(during).toEqual([false]);
  });

  it('ends with the document', async () => {
    const page = openPage({ body: '' });
    select(page, 0, 0);
    page.doc.destroy();
    await page.settled();
    expect(page.shown()).toBeNull();
  });

  it('shows nothing after its document was closed, which may be open again', async () => {
    const doc = new Y.Doc();
    const shown: unknown[] = [];
    const saved = Promise.withResolvers<void>();
    const presence: Presence = {
      set: (state) => void shown.push(state),
      current: [],
      subscribe: () => () => undefined,
    };
    createAwareness(doc, { presence, whenSaved: () => saved.promise });
    doc.destroy();
    saved.resolve();
    await new Promise((resolve) => setTimeout(resolve));
    expect(shown).toEqual([null]);
  });
});
