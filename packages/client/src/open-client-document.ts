import { quoteName, RockpoolError, toRockpoolError, type Schema, type TableSchema } from '@rockpool/shared';
import type { LiveDocument } from './interface/live-document.ts';
import type { Presence } from './interface/presence.ts';
import type { RowHistory } from './interface/row-history.ts';
import type { SqlStatement } from './rpc/sql-statement.ts';
import type { SqlParam } from './rpc/sql-value.ts';
import type { ClientSession } from './client-session.ts';
import { toKeyValues, type RowKey } from './rpc/row-key.ts';
import { decodeRows } from './rpc/rows-transfer.ts';
import { toStatementResult } from './rpc/statement-result.ts';
import { openDocument } from './document/open-document.ts';
import { eachChangeOf } from './tab/each-change.ts';

// Branches load this part too: a separate chunk would make the bundler move shared code and enlarge the page's first
// load.
export { restoredPlace } from './history/document-places.ts';
export { isDocumentEdit, mergeDocuments, textBeforeEdit, textOfState } from './branch/branch-documents.ts';

/** See Client.document. */
export async function openClientDocument<Value>(
  session: ClientSession,
  schema: Schema,
  tableName: string,
  rowKey: RowKey,
  column: string,
  rowHistory: () => Promise<RowHistory>,
): Promise<LiveDocument<Value>> {
  const key = toKeyValues(rowKey);
  const table = schema.tables.find((candidate) => candidate.name === tableName);
  if (table === undefined) throw new RockpoolError('document-unknown', { table: tableName, column });
  const statement = documentQuery(table, key, column);
  const topic = `${tableName}/${column}/${key.map(String).join('\u0000')}`;
  return openDocument<Value>(
    {
      read: async () => decodeRows(await session.call((worker) => worker.query(statement)))[0]?.['text'] ?? null,
      async change(changeJson, requestId) {
        const action = { kind: 'change-document', table: tableName, key, column, changeJson } as const;
        const [outcome] = await session.write([], action, requestId).catch((thrown: unknown) => {
          const isClosed = closedClients.has(session) && toRockpoolError(thrown).code === 'client-closed';
          throw isClosed ? new RockpoolError('client-closed', { closed: 'client' }) : thrown;
        });
        const [row] = outcome === undefined ? [] : toStatementResult<{ text: string }>(outcome).rows;
        if (row === undefined) throw new RockpoolError('document-gone', { table: tableName, column });
        return row.text;
      },
      follow: (listener) => session.live.live(eachChangeOf(statement)).subscribe(listener),
      beforeEnd: (listener, save) => beforeEnd(session, listener, save),
      onProblem: session.onProblem,
      history: async () => (await rowHistory()).document(column),
      // A getter, because a long key has no presence, but its document opens.
      get presence() {
        return presenceAmongOthers(session, topic);
      },
    },
    { table, column },
  );
}

/** The states that the open documents of one place show. The one that changed last is the last. */
type ShownStates = ReadonlyMap<object, unknown>;

const shownStates = new WeakMap<ClientSession, Map<string, ShownStates>>();

/**
 * The presence of a place for one of the documents that are open there. A tab shows one state for a place: of those
 * that its documents show, the one that changed last.
 */
function presenceAmongOthers(session: ClientSession, topic: string): Presence {
  const presence = session.presence.about(topic);
  const places = shownStates.get(session) ?? new Map<string, ShownStates>();
  shownStates.set(session, places);
  const owner = {};
  return {
    get current() {
      return presence.current;
    },
    subscribe: presence.subscribe,
    set(state) {
      const before = places.get(topic);
      const others = new Map(before);
      others.delete(owner);
      // Typing in one document makes the others show their state again.
      if (others.size > 0 && before?.has(owner) && JSON.stringify(before.get(owner)) === JSON.stringify(state)) return;
      const states = state === null ? others : new Map([...others, [owner, state]]);
      presence.set([...states.values()].at(-1) ?? null);
      if (states.size > 0) places.set(topic, states);
      else places.delete(topic);
    },
  };
}

/** The listeners of each client's open documents, and how each document is saved. */
type EndListeners = Map<() => void, () => Promise<void>>;

const endListeners = new WeakMap<ClientSession, EndListeners>();

const closedClients = new WeakSet<ClientSession>();

/** See DocumentSource. */
function beforeEnd(session: ClientSession, listener: () => void, save: () => Promise<void>): () => void {
  const listeners = endListeners.get(session) ?? listenForEnd(session);
  listeners.set(listener, save);
  return () => void listeners.delete(listener);
}

function listenForEnd(session: ClientSession): EndListeners {
  const listeners: EndListeners = new Map();
  endListeners.set(session, listeners);
  const callAll = (): void => listeners.forEach((_save, listener) => listener());
  session.beforeClose(() => {
    callAll();
    closedClients.add(session);
  });
  session.beforeAway = (event) => {
    // A page that is frozen or cached usually continues, and would then write the text twice; if the browser discards
    // it, the text is lost.
    if ((event as Partial<PageTransitionEvent>).persisted === false) callAll();
  };
  session.saveDocuments = () => Promise.all([...listeners.values()].map((save) => save().catch(unlessGone)));
  return listeners;
}

/** What was typed after the row was deleted cannot be written, and must not keep the user from leaving. */
function unlessGone(thrown: unknown): void {
  if (toRockpoolError(thrown).code !== 'document-gone') throw thrown;
}

function documentQuery(table: TableSchema, key: readonly SqlParam[], column: string): SqlStatement {
  const match = table.primaryKey.map((name) => `${quoteName(name)} = ?`).join(' AND ');
  return { sql: `SELECT ${quoteName(column)} AS "text" FROM ${quoteName(table.name)} WHERE ${match}`, params: key };
}
