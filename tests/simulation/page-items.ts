import { columnIdOf, tableIdOf, type CellValue } from '#shared/index.ts';
import { decodeDocumentCell, documentText, type JsonChange, type JsonValue } from '#shared/document/index.ts';
import { isJsonArray, isJsonObject } from '#shared/document/json.ts';
import type { MemberChange } from '#shared/document/json-change.ts';
import type { Commit, Model, WrittenCell } from './model.ts';

const PAGE = tableIdOf('page');
const CONTENT = columnIdOf('content');

/** The ids of the items that one write added to a document, and of those that it removed. */
interface ItemChange {
  readonly added: ReadonlySet<string>;
  readonly removed: ReadonlySet<string>;
}

export interface PagesEnding {
  /** The marks of the admitted transactions. */
  readonly admitted: ReadonlySet<string>;
  /** Every document on the server, and every lost document in the conflict log. */
  readonly texts: readonly string[];
  /** The keys of rows for which the conflict log says that an edit was lost with its document. */
  readonly lostWithDocument: ReadonlySet<string>;
}

/**
 * Reports an admitted item of a page that is not in the page, was not removed by a writer who saw it, and is not in the
 * conflict log.
 */
export function vanishedItem(model: Model, { admitted, texts, lostWithDocument }: PagesEnding): string | null {
  const present = new Set(texts.flatMap((text) => idsIn(JSON.parse(text) as JsonValue)));
  const removed = new Set<string>();
  const changes = model.inOrder.map((commit) => ({ commit, ...itemChange(commit.cells) }));
  for (const change of [...changes, ...model.unmarked.map(({ cells }) => itemChange(cells))])
    for (const id of change.removed) removed.add(id);
  for (const [index, { commit }] of changes.entries())
    for (const id of ownBelow(commit, model.inOrder.slice(0, index))) removed.add(id);
  for (const { commit, added } of changes) {
    if (!admitted.has(commit.mark) || model.commits.get(commit.mark)?.at(-1) !== commit) continue;
    for (const id of added) {
      if (present.has(id) || removed.has(id) || pagesOf(commit.cells).some((row) => lostWithDocument.has(row)))
        continue;
      return `the item ${id}, written by ${commit.device} in ${commit.mark}, is lost without a trace`;
    }
  }
  return null;
}

/**
 * The device's own items in a document that it deleted. It need not have seen them: they may have been masked, the
 * document may have been compacted since, or a restored server may have received the items and the delete again. They
 * are deleted with the document in any case.
 */
function ownBelow(commit: Commit, before: readonly Commit[]): string[] {
  const gone = new Set(
    commit.cells.filter(({ row, columnId, after }) => isContent(row, columnId) && !isEdit(after)).map(({ row }) => row),
  );
  if (gone.size === 0) return [];
  return before
    .filter(({ device }) => device === commit.device)
    .flatMap(({ cells }) => [...itemChange(cells.filter(({ row }) => gone.has(row))).added]);
}

/** The keys of pages whose document was created by one write, and that no other write replaced or deleted. */
export function pagesOfOneDocument(model: Model): Set<string> {
  const writes = [...model.inOrder.map(({ cells }) => cells), ...model.unmarked.map(({ cells }) => cells)]
    .flat()
    .filter(({ row, columnId, after }) => isContent(row, columnId) && !isEdit(after));
  const timesWritten = Map.groupBy(writes, ({ row }) => row.slice(`${PAGE}:t`.length));
  return new Set([...timesWritten].filter(([, { length }]) => length === 1).map(([key]) => key));
}

function pagesOf(cells: readonly WrittenCell[]): string[] {
  return cells.flatMap(({ row, columnId }) => (isContent(row, columnId) ? [row.slice(`${PAGE}:t`.length)] : []));
}

function isContent(row: string, columnId: number): boolean {
  return columnId === CONTENT && row.startsWith(`${PAGE}:`);
}

function itemChange(cells: readonly WrittenCell[]): ItemChange {
  const [oldIds, newIds] = [new Set<string>(), new Set<string>()];
  for (const { row, columnId, before, after } of cells) {
    if (!isContent(row, columnId)) continue;
    const [old, next] = sidesOf(before, after);
    for (const value of old) for (const id of idsIn(value)) oldIds.add(id);
    for (const value of next) for (const id of idsIn(value)) newIds.add(id);
  }
  return {
    added: new Set([...newIds].filter((id) => !oldIds.has(id))),
    removed: new Set([...oldIds].filter((id) => !newIds.has(id))),
  };
}

function isEdit(value: CellValue): boolean {
  return value instanceof Uint8Array && decodeDocumentCell(value).kind === 'edit';
}

/** A cell of the changelog (capture-documents.ts): the value before, and the value written. */
function sidesOf(before: CellValue, after: CellValue): [old: JsonValue[], next: JsonValue[]] {
  const cell = after instanceof Uint8Array ? decodeDocumentCell(after) : null;
  if (cell?.kind === 'edit') return changeSides(JSON.parse(String(before)) as JsonChange | null);
  const old = before instanceof Uint8Array ? documentText(before) : before;
  return [
    old === null ? [] : [JSON.parse(String(old)) as JsonValue],
    cell?.kind === 'content' ? [JSON.parse(cell.json) as JsonValue] : [],
  ];
}

function changeSides(change: JsonChange | null): [old: JsonValue[], next: JsonValue[]] {
  const [old, next]: [JsonValue[], JsonValue[]] = [[], []];
  const visit = (part: MemberChange): void => {
    if ('set' in part) return void (old.push(part.set[0]), next.push(part.set[1]));
    if ('swap' in part) return void (old.push(...part.swap[0]), next.push(...part.swap[1]));
    if ('members' in part) return Object.values(part.members).forEach(visit);
    if ('elements' in part) return Object.values(part.elements).forEach(visit);
    if ('list' in part) {
      for (const [, removed, inserted] of part.list) {
        old.push(...removed);
        next.push(...inserted);
      }
    }
  };
  if (change !== null) visit(change);
  return [old, next];
}

function idsIn(value: JsonValue): string[] {
  if (isJsonArray(value)) return value.flatMap(idsIn);
  if (!isJsonObject(value)) return [];
  const { id } = value;
  return [...(typeof id === 'string' ? [id] : []), ...Object.values(value).flatMap(idsIn)];
}
