import {
  decodeBefore,
  decodeChangesetBody,
  documentColumns,
  encodeChangesetBody,
  encodeKey,
  keyMatchSql,
  quoteName,
  RockpoolError,
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
  wholeState,
  type Author,
  type JsonChange,
  type JsonValue,
} from '@rockpool/shared/document';
import type { Connection } from '../sqlite/connection.ts';
import { baseReader, deleteUnusedBases } from './document-bases.ts';
import { DocumentTable } from './document-table.ts';
import type { DocumentTables } from './document-columns.ts';

/** A document as this site made it so far, and as the new site makes it. */
interface Rewritten {
  readonly old: CellValue;
  readonly now: CellValue;
}

/**
 * One document under pending edits: as it shows, and with the edits that are masked. Those show nowhere, and nothing
 * that shows may count on from them.
 */
interface Chains {
  shown: Rewritten;
  all: Rewritten;
}

/** An edit as it stands in the changelog, with the change of the JSON that it made. */
interface PendingEdit {
  readonly value: CellValue;
  readonly changeJson: CellValue;
}

/** Whose names edits are made under: their clocks must not count on from each other. */
export interface NewAuthors {
  readonly shown: Author;
  readonly masked: Author;
}

/**
 * Where the edits of a changeset are: in what shows, in nothing that shows because it was refused or masked, or in the
 * server's rows as they are known here since a log that is lost had admitted it.
 */
export type EditVisibility = 'shown' | 'masked' | 'in-base';

/**
 * Makes the pending edits of documents once more, under the name of a new site: under the old one another copy of this
 * file may have made others. Changesets from `firstOwn` on get new bodies (their hashes follow, see renumber.ts). Call
 * it in the transaction that changes the site.
 *
 * An edit that the server's documents of now do not take, since they still have it or are others than it was made in,
 * becomes one with a gap: what the server will have is not known yet. It is refused, and made anew in what is there
 * then (dependent-edits.ts); or it lost with its document.
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
  private readonly chains = new Map<string, Chains>();

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
        const chains = this.chainsOf(table, key, columnId);
        const changeJson = before.values[before.columnIds.indexOf(columnId)]?.[row] ?? null;
        if (isDocumentEdit(value))
          return edits === 'in-base'
            ? editWithGap(value)
            : this.edit(chains, { value, changeJson }, rule, edits === 'shown');
        if (edits !== 'in-base') replace(chains, value, rule, edits === 'shown');
        return value;
      });
    });
    return { ...group, values };
  }

  storeShown(): void {
    for (const [place, { shown }] of this.chains) {
      // NULL has no line, nor has a row that went.
      if (shown.now === null) continue;
      const [tableId, columnId, key] = JSON.parse(place) as [number, number, string];
      this.connection.run(
        'UPDATE rockpool_document SET state = ? WHERE table_id = ? AND column_id = ? AND hex(key) = ?',
        shown.now as Uint8Array,
        tableId,
        columnId,
        key,
      );
    }
    deleteUnusedBases(this.connection);
  }

  private edit(chains: Chains, pending: PendingEdit, rule: DocumentRule, isShown: boolean): CellValue {
    const chain = isShown ? chains.shown : chains.all;
    if (chain.now === null || !isEditOf(chain.old, pending.value)) return editWithGap(pending.value);
    const old = mergeUnlessGap(chain.old, pending.value);
    const content = old === null ? changed(chain.now, pending.changeJson, rule) : parseJson(documentText(old), rule);
    const { edit, state } = editDocument(chain.now, content, rule, isShown ? this.authors.shown : this.authors.masked);
    const made: Rewritten = { old: old ?? chain.old, now: state };
    if (isShown) {
      chains.shown = made;
      chains.all = {
        old: mergeUnlessGap(chains.all.old, pending.value) ?? chains.all.old,
        now: mergeEdit(chains.all.now, edit),
      };
    } else chains.all = made;
    return edit;
  }

  private chainsOf(table: TableSchema, key: readonly CellValue[], columnId: number): Chains {
    const place = JSON.stringify([table.id, columnId, hexOf(encodeKey(key))]);
    const state = this.chains.has(place) ? null : this.firstState(table, key, columnId);
    const chains = this.chains.get(place) ?? { shown: { old: state, now: state }, all: { old: state, now: state } };
    this.chains.set(place, chains);
    return chains;
  }

  /** The server's state: that under the first edit that shows; what shows where none does. */
  private firstState(table: TableSchema, key: readonly CellValue[], columnId: number): CellValue {
    const { connection } = this;
    const base = connection.value(
      'SELECT value FROM rockpool_base WHERE table_id = ? AND key = ? AND column_id = ?',
      table.id,
      encodeKey(key),
      columnId,
    );
    if (base !== undefined) return base instanceof Uint8Array ? wholeState(base, baseReader(connection)) : null;
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
 * Null where the edit builds on one that is not there: one that has gone to the server under the old name, and comes
 * back from there.
 */
function mergeUnlessGap(state: CellValue, edit: CellValue): CellValue {
  try {
    return mergeEdit(state, edit);
  } catch (thrown) {
    if (thrown instanceof RockpoolError && thrown.code === 'document-gap') return null;
    throw thrown;
  }
}

function changed(state: CellValue, changeJson: CellValue, rule: DocumentRule): JsonValue {
  const content = parseJson(documentText(state), rule);
  const change = typeof changeJson === 'string' ? (JSON.parse(changeJson) as JsonChange | null) : null;
  return change === null ? content : applyChange(content, change, PathRule.root(rule)).value;
}

function replace(chains: Chains, value: CellValue, rule: DocumentRule, isShown: boolean): void {
  const state = expandContent(value, rule);
  chains.all = { old: state, now: state };
  if (isShown) chains.shown = chains.all;
}

function hexOf(bytes: Uint8Array): string {
  return [...bytes]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
    .toUpperCase();
}
