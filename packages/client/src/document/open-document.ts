import { documentColumns, RockpoolError, toRockpoolError, type DocumentRule, type TableSchema } from '@rockpool/shared';
import {
  applyChange,
  diffJson,
  PathRule,
  readChangedJson,
  readNode,
  rootValue,
  rootOf,
  writeJson,
  type JsonChange,
  type JsonValue,
} from '@rockpool/shared/document';
import { Doc, UndoManager } from 'yjs';
import type { Awareness } from 'y-protocols/awareness';
import type { LiveDocument, Presence } from '../client.ts';
import { isUnflushed } from '../tab/synced-writes.ts';
import { createAwareness } from './awareness.ts';
import { textAt } from './text-at.ts';

/** The part of a client that an open document needs. */
export interface DocumentSource {
  /** Reads the current content of the column, including every resolved commit. Null if the row does not exist. */
  readonly read: () => Promise<unknown>;
  /** Calls the listener after commits that may have changed it, until the returned function is called. */
  readonly follow: (listener: () => void) => () => void;
  /**
   * Applies a change to the current document in the database and resolves with its new JSON text. Rejects with
   * `document-gone`.
   */
  readonly change: (changeJson: string) => Promise<string>;
  /** The presence of the tabs that have the document open. */
  readonly presence: Presence;
}

export interface DocumentPlace {
  readonly table: TableSchema;
  readonly column: string;
}

// Origins of changes in the Y.Doc. Undo covers FROM_CHANGE and changes without an origin.
const FROM_DATABASE = 'rockpool: database';
const FROM_CHANGE = 'rockpool: change';

/** Returns the rule of a document column. Throws `document-unknown` for any other column. */
export function ruleOfDocument(table: TableSchema, column: string): DocumentRule {
  const id = table.columns.find(({ name }) => name === column)?.id;
  const rule = id === undefined ? undefined : documentColumns(table).get(id);
  if (rule === undefined) throw new RockpoolError('document-unknown', { table: table.name, column });
  return rule;
}

/**
 * Opens a document: a Y.Doc in this page and the JSON in the database, kept equal in both directions.
 *
 *   Y.Doc ── difference from `stored` ──► applied in the database, which answers with the new text
 *   Y.Doc ◄── difference from `stored` ── that text, or the text read after a commit
 *
 * Runs one step at a time, so that `stored`, the last text that both sides had, is always known. Rejects with
 * `document-gone`.
 */
export async function openDocument<Value>(source: DocumentSource, place: DocumentPlace): Promise<LiveDocument<Value>> {
  const rule = ruleOfDocument(place.table, place.column);
  const path = PathRule.root(rule);
  const doc = new Doc();
  const listeners = new Set<() => void>();
  let hasUpdates = false;
  let state: LiveDocument['state'] = 'open';
  let error: RockpoolError | null = null;
  let isDirty = false;
  // True while changes made here may be missing from the database.
  let isUnsaved = false;
  let work: Promise<void> | null = null;
  let awareness: Awareness | null = null;

  const read = (): JsonValue => readNode(rootValue(doc), rule.maxDepth);
  const tell = (): void => {
    for (const listener of [...listeners]) listener();
  };

  /**
   * Applies to the page how `stored` changed elsewhere. If nothing changed here since `seen`, only the difference is
   * visited.
   */
  function take(text: string, seen: JsonValue): void {
    if (text === stored.text && seen === stored.value) return;
    const next = readChangedJson(text, stored.text, rule);
    const change = diffJson(seen, next.value, path);
    if (change !== null) {
      const [value, known] = isDirty ? [applyChange(read(), change, path).value, undefined] : [next.value, seen];
      doc.transact(() => writeJson(doc, value, path, known), FROM_DATABASE);
    }
    stored = next;
  }

  async function step(): Promise<void> {
    if (isDirty) {
      isDirty = false;
      const mine = read();
      const change: JsonChange | null = diffJson(stored.value, mine, path);
      if (change !== null) await make(change, mine);
      isUnsaved = isDirty;
      if (change !== null) return;
    }
    if (!hasUpdates) return;
    hasUpdates = false;
    await readAnew(stored.value);
  }

  async function make(change: JsonChange, mine: JsonValue): Promise<void> {
    try {
      take(await source.change(JSON.stringify(change)), mine);
    } catch (thrown) {
      if (isUnflushed(thrown)) await readAnew(mine); // The change is committed and must not be repeated.
      throw thrown;
    }
  }

  async function readAnew(seen: JsonValue): Promise<void> {
    const text = await source.read();
    if (typeof text === 'string') take(text, seen);
    else state = 'gone';
  }

  async function run(): Promise<void> {
    try {
      while (state !== 'gone' && (isDirty || hasUpdates)) await step();
      error = null;
    } catch (thrown) {
      error = toRockpoolError(thrown);
      if (error.code === 'document-gone') state = 'gone';
      else isDirty = true;
    } finally {
      work = null;
      tell();
    }
  }

  function wake(): void {
    work ??= Promise.resolve().then(run);
  }

  const text = await source.read();
  if (typeof text !== 'string')
    throw new RockpoolError('document-gone', { table: place.table.name, column: place.column });
  let stored = readChangedJson(text, null, rule);
  doc.transact(() => writeJson(doc, stored.value, path), FROM_DATABASE);
  const unfollow = source.follow(() => {
    hasUpdates = true;
    wake();
  });

  doc.on('update', (_update: Uint8Array, origin: unknown) => {
    if (origin === FROM_DATABASE) return;
    isDirty = true;
    isUnsaved = true;
    wake();
    tell();
  });
  const undoManager = new UndoManager(rootOf(doc), { trackedOrigins: new Set([null, FROM_CHANGE]) });

  async function saved(): Promise<void> {
    while (work !== null) await work;
    if (error !== null && isUnsaved) throw error;
    if (state === 'gone' && isDirty)
      throw new RockpoolError('document-gone', { table: place.table.name, column: place.column });
  }

  return {
    doc,
    undoManager,
    text: (...steps) => textAt(doc, steps),
    get awareness() {
      return (awareness ??= createAwareness(doc, { presence: source.presence, whenSaved: saved }));
    },
    get value() {
      return state === 'gone' ? null : (read() as Value);
    },
    get state() {
      return state;
    },
    get error() {
      return error;
    },
    change(next) {
      const value = next(read() as Value) as JsonValue;
      doc.transact(() => writeJson(doc, value, path), FROM_CHANGE);
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    saved,
    async close() {
      unfollow();
      // Immediately, so that a late end cannot hide this tab after it opens the document again.
      awareness?.destroy();
      try {
        await saved();
      } finally {
        state = 'closed';
        undoManager.destroy();
        doc.destroy();
      }
    },
  };
}
