import { documentColumns, RockpoolError, toRockpoolError, type DocumentRule, type TableSchema } from '@rockpool/shared';
import {
  applyChange,
  canonicalRichTexts,
  canonicalTextOf,
  checkJson,
  diffJson,
  PathRule,
  readChangedJson,
  readNode,
  rootValue,
  rootOf,
  writeJson,
  type JsonChange,
  type JsonText,
  type JsonValue,
} from '@rockpool/shared/document';
import { Doc, UndoManager } from 'yjs';
import type { Awareness } from 'y-protocols/awareness';
import type { LiveDocument, LiveDocumentState } from '../interface/live-document.ts';
import type { Presence } from '../interface/presence.ts';
import type { DocumentHistory } from '../interface/row-history.ts';
import { newId } from '../new-id.ts';
import { callListener, createListeners, type Listeners } from '../tab/listeners.ts';
import { isUnflushed, mayBeCommitted } from '../tab/synced-writes.ts';
import { createAwareness } from './awareness.ts';
import { textAt } from './text-at.ts';

/** The part of a client that an open document needs. */
export interface DocumentSource {
  /** Reads the current content of the column, including every resolved commit. Null if the row does not exist. */
  readonly read: () => Promise<unknown>;
  /** Calls the listener after each commit that may have changed the column, until the returned function is called. */
  readonly follow: (listener: () => void) => () => void;
  /**
   * Applies a change to the current document in the database and resolves with its new JSON text. A change that is
   * repeated under the same id is applied once. Rejects with `document-gone`, and once the client is closed with
   * `client-closed` and the field `closed`.
   */
  readonly change: (changeJson: string, requestId: string) => Promise<string>;
  /**
   * Until the returned function is called: calls the listener when the page or the client is about to end, and `save`
   * when the app leaves the database.
   */
  readonly beforeEnd: (listener: () => void, save: () => Promise<void>) => () => void;
  readonly history: () => Promise<DocumentHistory>;
  /** Passes the loss of a change to the app, which no call of the app can learn. */
  readonly onProblem: (error: RockpoolError) => void;
  /** The presence of the tabs that have the document open. */
  readonly presence: Presence;
}

export interface ColumnPlace {
  readonly table: TableSchema;
  readonly column: string;
}

/** A change of this page that was sent to the database. */
interface SentChange {
  readonly requestId: string;
  readonly changeJson: string;
  /** The JSON of the page with the change. */
  readonly mine: JsonValue;
}

/** The origin of changes in the Y.Doc that were not made in this page. */
const FROM_DATABASE = 'rockpool: database';

/** Contains every origin: each editor binding has one of its own. */
class AnyOrigin extends Set<unknown> {
  override has(): boolean {
    return true;
  }
}

/** Returns the rule of a document column. Throws `document-unknown` for any other column. */
export function ruleOfDocument(table: TableSchema, column: string): DocumentRule {
  const id = table.columns.find(({ name }) => name === column)?.id;
  const rule = id === undefined ? undefined : documentColumns(table).get(id);
  if (rule === undefined) throw new RockpoolError('document-unknown', { table: table.name, column });
  return rule;
}

/**
 * Opens a document: a Y.Doc in this page and the JSON in the database, kept equal in both directions. Rejects with
 * `document-gone`.
 */
export async function openDocument<Value>(source: DocumentSource, place: ColumnPlace): Promise<LiveDocument<Value>> {
  const rule = ruleOfDocument(place.table, place.column);
  const text = await source.read();
  if (typeof text !== 'string') throw goneError(place);
  const sync = new DocumentSync<Value>(source, place, rule, text);
  const { doc } = sync;
  const unfollow = source.follow(() => sync.hearCommit());
  const saved = (): Promise<void> => sync.saved();
  const stopListening = source.beforeEnd(() => sync.sendRest(), saved);
  const undoManager = new UndoManager(rootOf(doc), {
    trackedOrigins: new AnyOrigin(),
    captureTransaction: ({ origin }) => origin !== FROM_DATABASE,
  });
  let awareness: Awareness | null = null;
  let closing: Promise<void> | null = null;
  const end = (): void => {
    stopListening();
    undoManager.destroy();
    sync.close();
  };
  const close = (): Promise<void> => {
    unfollow();
    // Ends presence at once. If it ended later, it could hide this tab after the tab has reopened the document.
    awareness?.destroy();
    return (closing ??= sync.saved(end));
  };
  // Yjs would drop the listeners, and nobody would write what the page has not written yet, or miss what it changes.
  doc.destroy = () => {
    if (closing === null) close().catch((thrown: unknown) => source.onProblem(toRockpoolError(thrown)));
  };
  return {
    doc,
    undoManager,
    text: (...steps) => textAt(doc, steps),
    get awareness() {
      const isClosed = sync.current.state === 'closed';
      return (awareness ??= createAwareness(doc, isClosed ? null : { presence: source.presence, whenSaved: saved }));
    },
    get current() {
      return sync.current;
    },
    subscribe: (listener) => sync.subscribe(listener),
    history: async () => (await source.history()) as DocumentHistory<Value>,
    change: (next) => sync.change(next),
    saved,
    close,
  };
}

function closedError(): RockpoolError {
  return new RockpoolError('client-closed', { closed: 'document' });
}

function goneError({ table, column }: ColumnPlace): RockpoolError {
  return new RockpoolError('document-gone', { table: table.name, column });
}

function misplacedError({ table, column }: ColumnPlace): RockpoolError {
  return new RockpoolError('document-invalid', { table: table.name, column, problem: 'root' });
}

/**
 *   Y.Doc ── difference from `stored` ──► applied in the database, which returns the new text
 *   Y.Doc ◄── difference from `stored` ── that text, or the text read after a commit
 *
 * Runs one step at a time, so that `stored`, the last text that both sides had, is always known.
 */
class DocumentSync<Value> {
  readonly doc: Doc = new Doc();
  private readonly source: DocumentSource;
  private readonly place: ColumnPlace;
  private readonly rule: DocumentRule;
  private readonly path: PathRule;
  private readonly listeners: Listeners<LiveDocumentState<Value>> = createListeners();
  private stored: JsonText;
  private known: LiveDocumentState<Value> | null = null;
  /** The state that listeners received last. */
  private shown: LiveDocumentState<Value>;
  private state: LiveDocumentState['state'] = 'open';
  private error: RockpoolError | null = null;
  /** True if a commit may have changed the document in the database. */
  private hasUpdates = false;
  private isDirty = false;
  /** How many changes were made in this page, and how many of them are in the database. */
  private made = 0;
  private written = 0;
  /** How many of them were sent when the page or the client was about to end. */
  private sent = 0;
  private stepEnd = Promise.withResolvers<void>();
  /** The codes that were reported. */
  private readonly reported = new Set<string>();
  /** A change that may be in the database. It is repeated under its id, because it must not be written twice. */
  private unanswered: SentChange | null = null;
  private work: Promise<void> | null = null;

  constructor(source: DocumentSource, place: ColumnPlace, rule: DocumentRule, text: string) {
    this.source = source;
    this.place = place;
    this.rule = rule;
    this.path = PathRule.root(rule);
    this.stored = readChangedJson(text, null, rule);
    this.doc.transact(() => writeJson(this.doc, this.stored.value, this.path), FROM_DATABASE);
    this.shown = this.current;
    this.doc.on('update', (_update: Uint8Array, origin: unknown) => this.hearUpdate(origin));
  }

  get current(): LiveDocumentState<Value> {
    return (this.known ??= stateOf(this.state, this.error, () => this.readable() as Value));
  }

  subscribe(listener: (current: LiveDocumentState<Value>) => void): () => void {
    const remove = this.listeners.add(listener);
    callListener(listener, this.current);
    return remove;
  }

  change(next: (value: Value) => Value): void {
    if (this.state === 'closed') throw closedError();
    const given = checkJson(next(this.read() as Value), this.rule.maxDepth);
    const value = canonicalRichTexts(given, this.path);
    this.doc.transact(() => writeJson(this.doc, value, this.path));
  }

  hearCommit(): void {
    this.hasUpdates = true;
    this.wake();
  }

  /**
   * Resolves when the changes made before the call are written, and commits noticed before it are read, even if more
   * follow without a pause. Calls `end` only when nothing is left to write. No change can be made between the two.
   */
  async saved(end?: () => void): Promise<void> {
    if (this.isDirty && this.state === 'open') this.wake(); // Tries a failed write again.
    const upTo = end === undefined ? this.made : Infinity;
    // The first step may have begun before the call.
    for (let steps = 0; this.work !== null && (this.written < upTo || steps < 2); steps++) await this.stepEnd.promise;
    // While work continues, an error is one of an earlier attempt.
    const failure = this.work === null ? this.failure : null;
    end?.();
    if (failure !== null) throw failure;
  }

  /**
   * Sends the changes that wait for the step under way, such as a write that the database has not answered. If none is
   * under way, first repeats a change whose outcome is unknown. Nothing may follow: the page will not learn the result.
   */
  sendRest(): void {
    const { source, unanswered } = this;
    this.sent = this.made;
    if (!this.isDirty || this.state !== 'open') return;
    const report = (thrown: unknown): void => source.onProblem(toRockpoolError(thrown));
    const send = (changeJson: string, requestId: string): void =>
      void source.change(changeJson, requestId).catch(report);
    if (unanswered !== null && this.work === null) send(unanswered.changeJson, unanswered.requestId);
    try {
      const change = diffJson(unanswered?.mine ?? this.stored.value, this.read(), this.path);
      if (change !== null) send(JSON.stringify(change), newId());
    } catch (thrown) {
      report(thrown); // The page has content that JSON cannot express.
    }
  }

  close(): void {
    this.setState('closed', this.failure ?? this.error);
    Doc.prototype.destroy.call(this.doc);
    this.show();
    // An editor may still be bound to the Y.Doc. Its changes cannot be refused, and are not written.
    this.doc.once('update', () => {
      this.made++;
      const error = closedError();
      this.setState('closed', error);
      this.report(error);
      this.show();
    });
  }

  /** Why changes of this page are not in the database; null if they are, or if they are still being written. */
  private get failure(): RockpoolError | null {
    if (this.written === this.made) return null;
    return this.error ?? (this.state === 'gone' ? goneError(this.place) : null);
  }

  private hearUpdate(origin: unknown): void {
    this.known = null;
    if (origin === FROM_DATABASE) return;
    this.isDirty = true;
    this.made++;
    if (hasMisplaced(this.doc)) this.report(misplacedError(this.place));
    this.wake();
    this.show();
  }

  /** Reports, once, that changes are not written, which no call of the app can learn if an editor made them. */
  private report(error: RockpoolError): void {
    if (this.reported.has(error.code)) return;
    this.reported.add(error.code);
    this.source.onProblem(error);
  }

  private setState(state: LiveDocumentState['state'], error: RockpoolError | null): void {
    if (state !== this.state || error !== this.error) this.known = null;
    this.state = state;
    this.error = error;
  }

  private show(): void {
    if (this.current === this.shown) return;
    this.shown = this.current;
    this.listeners.emit(this.shown);
  }

  private read(): JsonValue {
    return readNode(rootValue(this.doc), this.rule.maxDepth);
  }

  /** While the page has content that JSON cannot express, returns the last JSON of the database. */
  private readable(): JsonValue {
    try {
      return this.read();
    } catch {
      return this.stored.value;
    }
  }

  private wake(): void {
    this.work ??= Promise.resolve().then(() => this.run());
  }

  private async run(): Promise<void> {
    let mayBeBack = false;
    try {
      while (this.hasUpdates || (this.isDirty && this.state === 'open')) {
        await this.step();
        this.setState(this.state, null);
        this.endStep();
      }
    } catch (thrown) {
      const error = toRockpoolError(thrown);
      this.isDirty = true;
      if (error.code === 'document-gone') {
        this.setState('gone', error);
        // The row may have come back before the answer arrived.
        mayBeBack = this.hasUpdates;
      } else {
        this.hasUpdates = true;
        this.setState(this.state, error);
        // The app has closed the client, but not the editor.
        if ('closed' in error.fields && this.made > this.sent) this.report(error);
      }
    } finally {
      this.work = null;
      if (mayBeBack) this.wake();
      this.endStep();
      this.show();
    }
  }

  private endStep(): void {
    this.stepEnd.resolve();
    this.stepEnd = Promise.withResolvers();
  }

  private async step(): Promise<void> {
    if (this.unanswered !== null) return this.write(this.unanswered);
    if (this.isDirty && this.state === 'open') {
      this.isDirty = false;
      const { made } = this;
      const mine = this.read();
      const change: JsonChange | null = diffJson(this.stored.value, mine, this.path);
      if (change !== null) await this.write({ requestId: newId(), changeJson: JSON.stringify(change), mine });
      this.written = made;
      if (change !== null) return;
    }
    if (!this.hasUpdates) return;
    this.hasUpdates = false;
    await this.readAgain(this.stored.value);
  }

  private async write(sent: SentChange): Promise<void> {
    const isRepeated = this.unanswered !== null;
    this.unanswered = sent;
    this.hasUpdates = false; // The text with the change includes all commits so far.
    const text = await this.source.change(sent.changeJson, sent.requestId).catch(async (thrown: unknown) => {
      const error = toRockpoolError(thrown);
      // If the change was committed before the row was deleted, the row comes back with it.
      const isUnknown = mayBeCommitted(error, isRepeated) || (isRepeated && error.code === 'document-gone');
      if (isUnflushed(thrown) || !isUnknown) this.unanswered = null;
      // The change is committed although an error was reported, so it must not be repeated.
      if (isUnflushed(thrown)) {
        this.share(sent.mine);
        await this.readAgain(sent.mine);
      }
      throw thrown;
    });
    this.unanswered = null;
    if (this.state === 'gone') this.setState('open', null);
    this.take(text, sent.mine);
  }

  private async readAgain(seen: JsonValue): Promise<void> {
    const text = await this.source.read();
    if (typeof text !== 'string') return this.setState('gone', this.error);
    // A deleted row may come back, and with it the document.
    if (this.state === 'gone') this.setState('open', null);
    this.take(text, seen);
  }

  /** Records that both sides have had this JSON: what is committed must not be written again. */
  private share(value: JsonValue): void {
    this.stored = { text: canonicalTextOf(value), value };
  }

  /** Applies external changes since `seen`, which both sides have had, to the page. */
  private take(text: string, seen: JsonValue): void {
    const { stored } = this;
    if (text === stored.text && seen === stored.value) return;
    try {
      const next = readChangedJson(text, stored.text, this.rule);
      this.merge(seen, next.value);
      this.stored = next;
    } catch (thrown) {
      this.share(seen);
      throw thrown;
    }
  }

  /** If the page has changed nothing since `seen`, visits only the difference. */
  private merge(seen: JsonValue, next: JsonValue): void {
    const { doc, path } = this;
    const change = diffJson(seen, next, path);
    if (change === null) return;
    const [value, known] = this.isDirty ? [applyChange(this.read(), change, path).value, undefined] : [next, seen];
    doc.transact(() => writeJson(doc, value, path, known), FROM_DATABASE);
  }
}

/**
 * The value is computed at the first access, so that a listener that reads only the error does not walk the document.
 */
function stateOf<Value>(
  state: LiveDocumentState['state'],
  error: RockpoolError | null,
  read: () => Value,
): LiveDocumentState<Value> {
  let known: { readonly value: Value | null } | null = null;
  return Object.freeze({
    get value() {
      return (known ??= { value: state === 'gone' ? null : read() }).value;
    },
    state,
    error,
  });
}

/** Whether a Y.Doc has content that is not part of its document, for example in a root type of an editor. */
function hasMisplaced(doc: Doc): boolean {
  const root = rootOf(doc);
  const others = [...doc.share.values()].filter((type: unknown) => type !== root);
  return root.size > 1 || others.some(({ _start: start, _map: members }) => start !== null || members.size > 0);
}
