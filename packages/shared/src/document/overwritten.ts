import * as Y from 'yjs';
import { elementName, elementStep } from './element-names.ts';
import { emptyObject, jsonEquals, type JsonObject, type JsonValue } from './json.ts';
import type { ChangedPlace } from './json-change.ts';
import { isListNode, namedElements, PLACE, PLAIN, readNode, rootOf, VALUE, type Node } from './json-node.ts';
import { valueAt, type DocumentPath, type PathStep } from './document-path.ts';
import { isRichText, readRichText } from './rich-text-node.ts';

/** One operation of a document: its client and its clock. */
export interface OperationId {
  readonly client: number;
  readonly clock: number;
}

/** The Yjs type that contains operations. */
type SharedType = Parameters<Y.Transaction['changed']['get']>[0];
type DeleteSet = Y.Transaction['deleteSet'];

/** A path that two authors wrote to concurrently, so that one of the two writes was lost. */
export interface OverwrittenMember {
  readonly path: DocumentPath;
  /**
   * The value that the edit wrote; undefined if it removed the value or only moved an element, or if the value is
   * unknown.
   */
  readonly own: JsonValue | undefined;
  /**
   * The value that the author of the edit had not seen; undefined if it was removed, or if it was a position among
   * other elements.
   */
  readonly other: JsonValue | undefined;
  /**
   * Operations of the other author, the latest of which identifies the author. Empty for a removal, whose author is not
   * recorded.
   */
  readonly otherIds: readonly OperationId[];
  /** Whether the value of the edit is the current one. */
  readonly ownStands: boolean;
}

/**
 * Merges an edit of `author` into the document, and reports every value that was overwritten by an author who had not
 * seen it, in either direction.
 *
 * - Yjs keeps the writes to a member in sequence, each after the one that its author had seen, and the last one is the
 *   value. An edit is concurrent with an unseen write if the last write is not the one that its author had seen.
 * - An edit that removes a member names everything in it that its author knew. Anything else that is removed with
 *   the member was unseen.
 * - A write inside a removed member leaves no content, and its path is lost with the member: it is reported once per
 *   edit, with the path `[]`.
 */
export function overwrittenBy(doc: Y.Doc, author: number, elementKey: string, update: Uint8Array): OverwrittenMember[] {
  const found: OverwrittenMember[] = [];
  rootOf(doc); // Yjs treats the root as a map only after it was requested as one.
  const { ds: known } = Y.decodeUpdate(update);
  // Content that a transaction deletes can be read only now.
  const look = (transaction: Y.Transaction): void => {
    for (const [type, keys] of transaction.changed) {
      for (const key of keys)
        if (key !== null && isMember(type, key))
          found.push(...overwrittenMember(transaction, author, elementKey, type, key));
    }
    const unseenInLists = new Map<SharedType, OperationId[]>();
    Y.iterateDeletedStructs(transaction, known, (struct) => {
      if (struct instanceof Y.Item) found.push(...removedUnseen(transaction, known, elementKey, struct, unseenInLists));
    });
    for (const [list, ids] of unseenInLists) found.push(changedList(transaction, elementKey, list, ids));
    if (wroteIntoNothing(transaction, author))
      found.push({ path: [], own: undefined, other: undefined, otherIds: [], ownStands: false });
  };
  doc.on('afterTransaction', look);
  try {
    Y.applyUpdate(doc, update);
  } finally {
    doc.off('afterTransaction', look);
  }
  return found;
}

/**
 * The conflicts of an edit that was carried over from another document: at each path, `now` is the value before,
 * `wanted` the value of the edit, and `made` the result of both.
 */
export function overwrittenByCarrying(
  doc: Y.Doc,
  places: readonly ChangedPlace[],
  now: JsonValue,
  wanted: JsonValue,
  made: JsonValue,
): OverwrittenMember[] {
  return places.flatMap(({ path, isMove }): OverwrittenMember[] => {
    if (isMove)
      return [
        { path, own: undefined, other: undefined, otherIds: operationsAt(doc, [...path, PLACE]), ownStands: true },
      ];
    const [own, other, stands] = [wanted, now, made].map((value) => valueAt(value, path));
    return isSame(own, other)
      ? []
      : [{ path, own, other, otherIds: operationsAt(doc, path), ownStands: isSame(own, stands) }];
  });
}

function isSame(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  return a === undefined || b === undefined ? a === b : jsonEquals(a, b);
}

/**
 * The last operation of each client at a place, including its content. Paths go only through members and named
 * elements.
 */
function operationsAt(doc: Y.Doc, path: DocumentPath): OperationId[] {
  let item = rootOf(doc)._map.get(VALUE);
  for (const step of path) {
    if (item === undefined || item.deleted || !(item.content instanceof Y.ContentType)) return [];
    const name = typeof step === 'string' ? step : elementName(step as JsonObject, Object.keys(step)[0] as string);
    item = item.content.type._map.get(name as string);
  }
  if (item === undefined || item.deleted) return [];
  const last = new Map<number, number>();
  for (const { lastId, deleted } of [
    item,
    ...(item.content instanceof Y.ContentType ? itemsBelow(item.content.type) : []),
  ]) {
    if (!deleted) last.set(lastId.client, Math.max(lastId.clock, last.get(lastId.client) ?? 0));
  }
  return [...last].map(([client, clock]) => ({ client, clock }));
}

/** Members of an object, named elements with their places, and the document itself, but not the internal keys. */
function isMember(type: SharedType, key: string): boolean {
  return key !== PLAIN && type instanceof Y.Map;
}

function overwrittenMember(
  transaction: Y.Transaction,
  author: number,
  elementKey: string,
  type: SharedType,
  key: string,
): OverwrittenMember[] {
  const isNew = ({ id }: Y.Item): boolean =>
    id.client === author && id.clock >= (transaction.beforeState.get(author) ?? 0);
  const stands = type._map.get(key);
  const writes: Y.Item[] = [];
  for (let item: Y.Item | null = stands ?? null; item !== null; item = item.left) writes.push(item);
  const own = writes.filter(isNew);
  const other = writes.find((item) => !isNew(item));
  const [last, first] = [own[0], own.at(-1)];
  if (
    stands === undefined ||
    last === undefined ||
    first === undefined ||
    other === undefined ||
    Y.compareIDs(first.origin, other.lastId)
  )
    return [];
  const ownStands = stands === last;
  const otherIsThere = wasThere(transaction, other);
  // The author of the removal had not seen the edit, whose value is the current one.
  if (ownStands && !otherIsThere) return [];
  const written: OverwrittenMember = {
    path: pathOf(transaction.doc, type, key, elementKey),
    own: jsonOf(transaction, last),
    other: otherIsThere ? jsonOf(transaction, other) : undefined,
    otherIds: [other.id],
    ownStands,
  };
  if (written.other !== undefined && jsonEquals(written.own as JsonValue, written.other)) return [];
  // A position has no meaning outside its list, so only the move is reported.
  return [
    key === PLACE
      ? { ...written, path: pathOfType(transaction.doc, type, elementKey), own: undefined, other: undefined }
      : written,
  ];
}

/**
 * A member or element that the edit removed or replaced, with content that its author had not seen. For an element
 * without a name, adds the unseen content to that of its list.
 */
function removedUnseen(
  transaction: Y.Transaction,
  known: DeleteSet,
  elementKey: string,
  item: Y.Item,
  unseenInLists: Map<SharedType, OperationId[]>,
): OverwrittenMember[] {
  const { content, parentSub } = item;
  const parent = item.parent as SharedType;
  const isNow = (id: OperationId): boolean => Y.isDeleted(transaction.deleteSet, id as Y.ID);
  if (!(content instanceof Y.ContentType) || !isNow(item.id) || (parent._item !== null && isNow(parent._item.id)))
    return [];
  const unseen = itemsBelow(content.type).find(({ id }) => isNow(id) && !Y.isDeleted(known, id));
  if (unseen === undefined) return [];
  if (parentSub === null) {
    const list = parent.parent as SharedType;
    unseenInLists.set(list, unseenInLists.get(list) ?? []);
    unseenInLists.get(list)?.push(unseen.id);
    return [];
  }
  const stands = parent._map.get(parentSub);
  const own = stands === undefined || stands.deleted ? undefined : jsonOf(transaction, stands);
  return [
    {
      path: pathOf(transaction.doc, parent, parentSub, elementKey),
      own,
      other: jsonOf(transaction, item),
      otherIds: [unseen.id],
      ownStands: true,
    },
  ];
}

/**
 * The list before and after the edit removed elements without a name. One entry per list, because an entry for each
 * element would repeat the list as often.
 */
function changedList(
  transaction: Y.Transaction,
  elementKey: string,
  list: SharedType,
  otherIds: readonly OperationId[],
): OverwrittenMember {
  return {
    path: pathOfType(transaction.doc, list, elementKey),
    own: readNode(list as Node, Infinity),
    other: typeJson(transaction, list),
    otherIds,
    ownStands: true,
  };
}

function itemsBelow(type: SharedType): Y.Item[] {
  return [...type._map.values(), ...itemsOf(type)].flatMap((item) => [
    item,
    ...(item.content instanceof Y.ContentType ? itemsBelow(item.content.type) : []),
  ]);
}

/** Yjs turns operations into garbage if their parent is garbage. */
function wroteIntoNothing({ doc, beforeState }: Y.Transaction, author: number): boolean {
  const before = beforeState.get(author) ?? 0;
  return (doc.store.clients.get(author) ?? []).some(
    (struct) => struct instanceof Y.GC && struct.id.clock + struct.length > before,
  );
}

/** Whether the item existed before this transaction. */
function wasThere(transaction: Y.Transaction, item: Y.Item): boolean {
  return !item.deleted || Y.isDeleted(transaction.deleteSet, item.id);
}

function jsonOf(transaction: Y.Transaction, { content }: Y.Item): JsonValue {
  if (content instanceof Y.ContentType) return typeJson(transaction, content.type);
  return (content.getContent()[0] ?? null) as JsonValue;
}

/** Like readNode, for content that this transaction deletes. */
function typeJson(transaction: Y.Transaction, type: SharedType): JsonValue {
  const items = itemsOf(type).filter((item) => wasThere(transaction, item));
  if (isRichText(type)) return readRichText(type, (item) => wasThere(transaction, item));
  if (type instanceof Y.Text)
    return items.flatMap(({ content }) => (content instanceof Y.ContentString ? [content.str] : [])).join('');
  if (type instanceof Y.Array)
    return items.flatMap((item) =>
      item.content instanceof Y.ContentType ? [jsonOf(transaction, item)] : (item.content.getContent() as JsonValue[]),
    );
  const members = [...type._map].filter(([, item]) => wasThere(transaction, item));
  const plain = members.find(([key]) => key === PLAIN)?.[1];
  const object = emptyObject();
  for (const [key, item] of members) if (key !== PLAIN && key !== PLACE) object[key] = jsonOf(transaction, item);
  if (plain === undefined) return object;
  const placeOf = ([, { content }]: [string, Y.Item]): string => {
    const place = content instanceof Y.ContentType ? content.type._map.get(PLACE) : undefined;
    return place === undefined ? '' : String(place.content.getContent()[0]);
  };
  const named = members.filter(([key]) => key !== PLAIN).sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
  return [...named.map(([key]) => object[key] as JsonValue), ...(jsonOf(transaction, plain) as JsonValue[])];
}

function itemsOf(type: SharedType): Y.Item[] {
  const items: Y.Item[] = [];
  for (let item = type._start; item !== null; item = item.right) items.push(item);
  return items;
}

function pathOf(doc: Y.Doc, type: SharedType, key: string, elementKey: string): DocumentPath {
  if (Object.is(type, rootOf(doc))) return [];
  const step: PathStep = isListNode(type as Node) ? elementStep(key, elementKey) : key;
  return [...pathOfType(doc, type, elementKey), step];
}

function pathOfType(doc: Y.Doc, type: SharedType, elementKey: string): DocumentPath {
  const item = type._item;
  const parent = item?.parent as SharedType | null | undefined;
  if (item === null || parent === null || parent === undefined) return [];
  if (item.parentSub === PLAIN) return pathOfType(doc, parent, elementKey);
  if (item.parentSub !== null) return pathOf(doc, parent, item.parentSub, elementKey);
  // Unnamed elements come after the named ones.
  let index = namedElements(parent.parent as Y.Map<Node>).length;
  for (let left = item.left; left !== null; left = left.left) if (!left.deleted) index += left.length;
  return [...pathOfType(doc, parent, elementKey), index];
}
