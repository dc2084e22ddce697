import {
  decodeBefore,
  decodeChangesetBody,
  documentColumns,
  encodeChangesetBody,
  encodeKey,
  keyMatchSql,
  quoteName,
  type BeforeGroup,
  type CellValue,
  type ChangeGroup,
  type DocumentRule,
  type TableSchema,
} from '@rockpool/shared';
import {
  applyChange,
  documentText,
  editDocument,
  editWithGap,
  expandContent,
  isDocumentEdit,
  isEditOf,
  mergeEdit,
  parseJson,
  PathRule,
  completeState,
  type Author,
  type JsonChange,
  type JsonValue,
} from '@rockpool/shared/document';
import type { Connection } from '../sqlite/connection.ts';
import { baseReader, deleteUnusedBases } from './document-bases.ts';
import { unlessGap } from './document-rebase.ts';
import { DocumentTable } from './document-table.ts';
import type { DocumentTables } from './document-columns.ts';

/** Two states of one document: with the edits of the old site (`old`), and with their rewritten forms (`now`). */
interface RewrittenState {
  readonly old: CellValue;
  readonly now: CellValue;
}

/**
 * One document with pending edits: the visible state, and the state with masked edits as well. Visible edits must not
 * build on masked ones.
 */
interface PendingStates {
  shown: RewrittenState;
  withMasked: RewrittenState;
}

/** An edit from the changelog, with the change of the JSON that it made. */
interface PendingEdit {
  readonly value: CellValue;
  readonly changeJson: CellValue;
}

/** The authors of rewritten edits. Visible and masked edits must not share an author's clock. */
export interface NewAuthors {
  readonly shown: Author;
  readonly masked: Author;
}

/**
 * Where the edits of a changeset take effect: in the visible rows (`shown`), nowhere because the changeset was rejected
 * or masked (`masked`), or already in the server's rows on this device, because a log that was since lost had admitted
 * it (`in-base`).
 */
export type EditVisibility = 'shown' | 'masked' | 'in-base';

/**
 * Rewrites the pending edits of documents for a new site, because another copy of this file may have made other edits
 * under the old site id. Changesets from `firstOwn` on get new bodies; renumber.ts updates their hashes. Call it in the
 * transaction that changes the site.
 *
 * Some edits cannot be applied to the server's last known document, because it already contains the edit or is a
 * different document. Such an edit becomes one with a gap, as the server's future state is unknown. The server rejects
 * it, and it is then retried on the current document (write/retry-dependent-edits.ts), unless it was lost with its
 * document.
 */
export function rewriteEdits(
  connection: Connection,
  tables: DocumentTables,
  authors: NewAuthors,
  firstOwn: number,
  visibilityOf: (sequence: number) => EditVisibility,
): void {
  const documents = new PendingDocuments(connection, authors);
  for (const [sequence, body, before] of connection.rows(
    'SELECT sequence, body, before FROM rockpool_changelog WHERE sequence >= ? ORDER BY sequence',
    firstOwn,
  )) {
    const changeset = decodeChangesetBody(body as Uint8Array);
    const olds = decodeBefore(before as Uint8Array, changeset.groups);
    const edits = visibilityOf(sequence as number);
    const groups = changeset.groups.map((group, index) => {
      const table = tables.get(group.tableId);
      return table === undefined
        ? group
        : documents.rewriteGroup({ group, before: olds[index] as BeforeGroup }, table, edits);
    });
    connection.run(
      'UPDATE rockpool_changelog SET body = ? WHERE sequence = ?',
      encodeChangesetBody({ ...changeset, groups }),
      sequence as number,
    );
  }
  documents.storeShown();
}

class PendingDocuments {
  private readonly connection: Connection;
  private readonly authors: NewAuthors;
  private readonly statesByPlace = new Map<string, PendingStates>();

  constructor(connection: Connection, authors: NewAuthors) {
    this.connection = connection;
    this.authors = authors;
  }

  rewriteGroup(
    { group, before }: { readonly group: ChangeGroup; readonly before: BeforeGroup },
    table: TableSchema,
    edits: EditVisibility,
  ): ChangeGroup {
    const rules = documentColumns(table);
    const values = group.values.map((column, index) => {
      const columnId = group.columnIds[index] as number;
      const rule = rules.get(columnId);
      if (rule === undefined) return column;
      return column.map((value, row) => {
        const key = group.keys.map((part) => part[row] as CellValue);
        const states = this.statesOf(table, key, columnId);
        const changeJson = before.values[before.columnIds.indexOf(columnId)]?.[row] ?? null;
        if (isDocumentEdit(value))
          return edits === 'in-base'
            ? editWithGap(value)
            : this.edit(states, { value, changeJson }, rule, edits === 'shown');
        if (edits !== 'in-base') replace(states, value, rule, edits === 'shown');
        return value;
      });
    });
    return { ...group, values };
  }

  storeShown(): void {
    for (const [place, { shown }] of this.statesByPlace) {
      // NULL and deleted rows have no entry.
      if (shown.now === null) continue;
      const [tableId, columnId, key] = JSON.parse(place) as [number, number, number[]];
      this.connection.run(
        'UPDATE rockpool_document SET state = ? WHERE table_id = ? AND column_id = ? AND key = ?',
        shown.now as Uint8Array,
        tableId,
        columnId,
        Uint8Array.from(key),
      );
    }
    deleteUnusedBases(this.connection);
  }

  private edit(states: PendingStates, pending: PendingEdit, rule: DocumentRule, isShown: boolean): CellValue {
    const start = isShown ? states.shown : states.withMasked;
    if (start.now === null || !isEditOf(start.old, pending.value)) return editWithGap(pending.value);
    const old = mergeUnlessGap(start.old, pending.value);
    const content = old === null ? changed(start.now, pending.changeJson, rule) : parseJson(documentText(old), rule);
    const { edit, state } = editDocument(start.now, content, rule, isShown ? this.authors.shown : this.authors.masked);
    const made: RewrittenState = { old: old ?? start.old, now: state };
    if (isShown) {
      states.shown = made;
      states.withMasked = {
        old: mergeUnlessGap(states.withMasked.old, pending.value) ?? states.withMasked.old,
        now: mergeEdit(states.withMasked.now, edit),
      };
    } else states.withMasked = made;
    return edit;
  }

  private statesOf(table: TableSchema, key: readonly CellValue[], columnId: number): PendingStates {
    const place = JSON.stringify([table.id, columnId, [...encodeKey(key)]]);
    const known = this.statesByPlace.get(place);
    if (known !== undefined) return known;
    const state = this.firstState(table, key, columnId);
    const states: PendingStates = { shown: { old: state, now: state }, withMasked: { old: state, now: state } };
    this.statesByPlace.set(place, states);
    return states;
  }

  /** The server's state: the one beneath the first visible edit, or the visible state if there is no such edit. */
  private firstState(table: TableSchema, key: readonly CellValue[], columnId: number): CellValue {
    const { connection } = this;
    const base = connection.value(
      'SELECT value FROM rockpool_base WHERE table_id = ? AND key = ? AND column_id = ?',
      table.id,
      encodeKey(key),
      columnId,
    );
    if (base !== undefined) return base instanceof Uint8Array ? completeState(base, baseReader(connection)) : null;
    const column = table.columns.find(({ id }) => id === columnId)?.name ?? '';
    const statement = connection.prepare(
      `SELECT ${quoteName(column)} FROM main.${quoteName(table.name)} WHERE ${keyMatchSql(table)}`,
    );
    try {
      key.forEach((part, index) => statement.bindCell(index + 1, part));
      const text = statement.step() ? statement.readCell(0) : null;
      return new DocumentTable(connection, table.id, documentColumns(table)).readWhole(key, columnId, () => text);
    } finally {
      statement.release();
    }
  }
}

/**
 * Null if the edit builds on a missing edit, which was sent under the old site id and will be delivered by the server.
 */
function mergeUnlessGap(state: CellValue, edit: CellValue): CellValue {
  return unlessGap(() => mergeEdit(state, edit)) ?? null;
}

function changed(state: CellValue, changeJson: CellValue, rule: DocumentRule): JsonValue {
  const content = parseJson(documentText(state), rule);
  const change = typeof changeJson === 'string' ? (JSON.parse(changeJson) as JsonChange | null) : null;
  return change === null ? content : applyChange(content, change, PathRule.root(rule)).value;
}

function replace(states: PendingStates, value: CellValue, rule: DocumentRule, isShown: boolean): void {
  const state = expandContent(value, rule);
  states.withMasked = { old: state, now: state };
  if (isShown) states.shown = states.withMasked;
}
