import { Awareness } from 'y-protocols/awareness';
import type { Doc } from 'yjs';
import type { Peer, Presence } from '../interface/presence.ts';
import { reportUncaught } from '../rpc/error-transfer.ts';
import { hueOf } from '../tab/peer-color.ts';
import { isSharedCursor, toEditorCursor, toSharedCursor, type SharedCursor } from './shared-cursor.ts';

export interface AwarenessSource {
  readonly presence: Presence;
  /**
   * Resolves when the changes made in this page are in the database. A cursor is sent only after the text that contains
   * it.
   */
  readonly whenSaved: () => Promise<unknown>;
}

interface Other {
  readonly id: number;
  readonly peer: Peer;
  /**
   * True once the local text equals the text for which the cursor was sent. From then on, the cursor moves with the
   * text.
   */
  isSettled: boolean;
}

/**
 * Creates the Awareness of a document for editor bindings. The `cursor` of others is translated to this page's Y.Doc,
 * and their `user` comes from the server, with a derived colour. All other fields of a state are passed through.
 * Without a source, for a closed document, it shows nobody, and this tab to nobody.
 */
export function createAwareness(doc: Doc, source: AwarenessSource | null): Awareness {
  const awareness = new Awareness(doc);
  // Awareness would drop silent peers after 30 s, but the server knows who is present.
  clearInterval(awareness._checkInterval as ReturnType<typeof setInterval>);
  if (source === null) return awareness;
  const exchange = new CursorExchange(doc, awareness, source);
  const unsubscribe = source.presence.subscribe((peers) => exchange.hear(peers));
  const onUpdate = (_change: unknown, origin: unknown): void => {
    if (origin === 'local') void exchange.tell();
  };
  const onDocUpdate = (): void => {
    // Deferred, because an editor may change the text in the middle of its own update.
    queueMicrotask(() => exchange.placeAgain());
    void exchange.tell();
  };
  awareness.on('update', onUpdate);
  doc.on('update', onDocUpdate);
  awareness.on('destroy', () => {
    if (!exchange.end()) return;
    unsubscribe();
    doc.off('update', onDocUpdate);
    source.presence.set(null);
  });
  void exchange.tell();
  return awareness;
}

/** Sends this page's cursor to others, and places theirs in this page's Y.Doc. */
class CursorExchange {
  private readonly doc: Doc;
  private readonly awareness: Awareness;
  private readonly source: AwarenessSource;
  private readonly others = new Map<string, Other>();
  private nextId = 1;
  private isTelling = false;
  private isOver = false;

  constructor(doc: Doc, awareness: Awareness, source: AwarenessSource) {
    this.doc = doc;
    this.awareness = awareness;
    this.source = source;
  }

  /** Sends the newest state once the text to which it refers is written. */
  async tell(): Promise<void> {
    if (this.isTelling) return;
    this.isTelling = true;
    try {
      // If the text cannot be written, the cursor is sent nevertheless.
      await this.source.whenSaved().catch(() => undefined);
      this.isTelling = false;
      if (!this.isOver) this.source.presence.set(this.shownState());
    } catch (thrown) {
      reportUncaught(thrown);
    }
  }

  hear(peers: readonly Peer[]): void {
    const added: number[] = [];
    const updated: number[] = [];
    const gone = new Map(this.others);
    for (const peer of peers) {
      // A client chooses the ids of its tabs, so another site may use the same ones.
      const key = `${peer.siteId} ${peer.tabId}`;
      const known = this.others.get(key);
      gone.delete(key);
      if (known?.peer === peer) continue;
      const other: Other = { id: known?.id ?? this.newId(), peer, isSettled: false };
      this.others.set(key, other);
      this.place(other);
      (known === undefined ? added : updated).push(other.id);
    }
    for (const [key, { id }] of gone) {
      this.others.delete(key);
      this.awareness.states.delete(id);
    }
    this.emit({ added, updated, removed: [...gone.values()].map(({ id }) => id) });
  }

  /** Places cursors again that arrived before their text. */
  placeAgain(): void {
    if (this.isOver) return;
    const unsettled = [...this.others.values()].filter(({ isSettled }) => !isSettled);
    for (const other of unsettled) this.place(other);
    this.emit({ added: [], updated: unsettled.map(({ id }) => id), removed: [] });
  }

  /** Returns false if it has already ended. */
  end(): boolean {
    if (this.isOver) return false;
    this.isOver = true;
    return true;
  }

  private shownState(): object | null {
    const state = this.awareness.getLocalState();
    if (state === null) return null;
    const { user: _, cursor, ...rest } = state;
    return { ...rest, cursor: toSharedCursor(this.doc, cursor) };
  }

  private newId(): number {
    if (this.nextId === this.awareness.clientID) this.nextId++;
    return this.nextId++;
  }

  private place(other: Other): void {
    const { state } = other.peer;
    const { cursor: shared, ...rest } = (typeof state === 'object' && state !== null ? state : {}) as {
      readonly cursor?: SharedCursor;
    };
    const placed = isSharedCursor(shared) ? toEditorCursor(this.doc, shared) : null;
    other.isSettled = placed?.isSettled ?? !isSharedCursor(shared);
    this.awareness.states.set(other.id, { ...rest, cursor: placed?.cursor ?? null, user: userOf(other.peer) });
  }

  private emit(change: { readonly added: number[]; readonly updated: number[]; readonly removed: number[] }): void {
    if (change.added.length + change.updated.length + change.removed.length === 0) return;
    this.awareness.emit('change', [change, 'remote']);
    this.awareness.emit('update', [change, 'remote']);
  }
}

/** With the colour of the peer, and the same one with transparency, for selections. */
function userOf({ principal, name, color }: Peer): {
  readonly name: string;
  readonly principal: string;
  readonly color: string;
  readonly colorLight: string;
} {
  return { name: name ?? principal, principal, color, colorLight: `oklch(70% 0.12 ${hueOf(principal)} / 0.3)` };
}
