import { Awareness } from 'y-protocols/awareness';
import type { Doc } from 'yjs';
import type { Peer, Presence } from '../client.ts';
import { reportUncaught } from '../report-uncaught.ts';
import { peerColorLight } from '../tab/peer-color.ts';
import { isSharedCursor, toEditorCursor, toSharedCursor, type SharedCursor } from './shared-cursor.ts';

export interface AwarenessSource {
  readonly presence: Presence;
  /**
   * Resolves when what was changed in this page is in the database: a cursor is told after the text that it stands in.
   */
  readonly whenSaved: () => Promise<unknown>;
}

interface Other {
  readonly id: number;
  readonly person: Peer;
  /** The text here is the one that the cursor was told of: from now on the cursor moves with it. */
  isSettled: boolean;
}

/**
 * The Awareness of a document, as bindings of editors expect it: what others have under `cursor` stands in this page's
 * document, and their `user` is what the server says of them, with a colour that follows from it. Everything else in a
 * state is as its tab has set it.
 */
export function createAwareness(doc: Doc, { presence, whenSaved }: AwarenessSource): Awareness {
  const awareness = new Awareness(doc);
  // It would forget others after 30 s of their silence. Who is here, the server knows.
  clearInterval(awareness._checkInterval as ReturnType<typeof setInterval>);
  const others = new Map<string, Other>();
  let nextId = 1;
  let isTelling = false;
  let isOver = false;

  /** The newest state, when the text that it stands in has been written. */
  async function tell(): Promise<void> {
    if (isTelling) return;
    isTelling = true;
    try {
      await whenSaved().catch(() => undefined); // A text that cannot be written has a cursor all the same.
      isTelling = false;
      if (!isOver) presence.set(shownState());
    } catch (thrown) {
      reportUncaught(thrown);
    }
  }

  function shownState(): object | null {
    const state = awareness.getLocalState();
    if (state === null) return null;
    const { user: _, cursor, ...rest } = state;
    return { ...rest, cursor: toSharedCursor(doc, cursor) };
  }

  function newId(): number {
    if (nextId === awareness.clientID) nextId++;
    return nextId++;
  }

  function place(other: Other): void {
    const { state } = other.person;
    const { cursor: shared, ...rest } = (typeof state === 'object' && state !== null ? state : {}) as {
      readonly cursor?: SharedCursor;
    };
    const placed = isSharedCursor(shared) ? toEditorCursor(doc, shared) : null;
    other.isSettled = placed?.isSettled ?? !isSharedCursor(shared);
    awareness.states.set(other.id, { ...rest, cursor: placed?.cursor ?? null, user: userOf(other.person) });
  }

  function hear(people: readonly Peer[]): void {
    const added: number[] = [];
    const updated: number[] = [];
    const gone = new Map(others);
    for (const person of people) {
      const known = others.get(person.tabId);
      gone.delete(person.tabId);
      if (known?.person === person) continue;
      const other: Other = { id: known?.id ?? newId(), person, isSettled: false };
      others.set(person.tabId, other);
      place(other);
      (known === undefined ? added : updated).push(other.id);
    }
    for (const [tabId, { id }] of gone) {
      others.delete(tabId);
      awareness.states.delete(id);
    }
    emit({ added, updated, removed: [...gone.values()].map(({ id }) => id) });
  }

  /** The text has changed: cursors that came before it are placed anew. */
  function placeAgain(): void {
    if (isOver) return;
    const unsettled = [...others.values()].filter(({ isSettled }) => !isSettled);
    for (const other of unsettled) place(other);
    emit({ added: [], updated: unsettled.map(({ id }) => id), removed: [] });
  }

  function emit(change: { readonly added: number[]; readonly updated: number[]; readonly removed: number[] }): void {
    if (change.added.length + change.updated.length + change.removed.length === 0) return;
    awareness.emit('change', [change, 'remote']);
    awareness.emit('update', [change, 'remote']);
  }

  const unsubscribe = presence.subscribe(hear);
  const onUpdate = (_change: unknown, origin: unknown): void => {
    if (origin === 'local') void tell();
  };
  const onDocUpdate = (): void => {
    // Not from within: an editor is in the middle of an update of its own when it changes the text.
    queueMicrotask(placeAgain);
    void tell();
  };
  awareness.on('update', onUpdate);
  doc.on('update', onDocUpdate);
  awareness.on('destroy', () => {
    if (isOver) return;
    isOver = true;
    unsubscribe();
    doc.off('update', onDocUpdate);
    presence.set(null);
  });
  void tell();
  return awareness;
}

function userOf({ principal, name, color }: Peer): {
  readonly name: string;
  readonly principal: string;
  readonly color: string;
  readonly colorLight: string;
} {
  return { name: name ?? principal, principal, color, colorLight: peerColorLight(principal) };
}
