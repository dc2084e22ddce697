import { Awareness } from 'y-protocols/awareness';
import type { Doc } from 'yjs';
import type { Peer, Presence } from '../client.ts';
import { reportUncaught } from '../rpc/error-transfer.ts';
import { peerColorLight } from '../tab/peer-color.ts';
import { isSharedCursor, toEditorCursor, toSharedCursor, type SharedCursor } from './shared-cursor.ts';

export interface AwarenessSource {
  readonly presence: Presence;
  /**
   * Resolves when the changes made in this page are in the database: a cursor is sent after the text that contains it.
   */
  readonly whenSaved: () => Promise<unknown>;
}

interface Other {
  readonly id: number;
  readonly person: Peer;
  /**
   * True once the local text matches the one that the cursor was sent for. From then on the cursor moves with the text.
   */
  isSettled: boolean;
}

/**
 * Creates the Awareness of a document for editor bindings. The `cursor` of others is translated to this page's Y.Doc,
 * and their `user` comes from the server, with a derived colour. All other fields of a state are passed through.
 */
export function createAwareness(doc: Doc, { presence, whenSaved }: AwarenessSource): Awareness {
  const awareness = new Awareness(doc);
  // Awareness would drop silent peers after 30 s. The server knows who is present.
  clearInterval(awareness._checkInterval as ReturnType<typeof setInterval>);
  const others = new Map<string, Other>();
  let nextId = 1;
  let isTelling = false;
  let isOver = false;

  /** Sends the newest state once the text that it refers to is written. */
  async function tell(): Promise<void> {
    if (isTelling) return;
    isTelling = true;
    try {
      await whenSaved().catch(() => undefined); // The cursor is sent even if the text cannot be written.
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

  /** Places cursors again that arrived before their text. */
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
    // Deferred: an editor changes the text in the middle of its own update.
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
