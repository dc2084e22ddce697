import * as Y from 'yjs';
import { emptyObject, jsonEquals, type JsonValue } from './json.ts';
import { isListNode, namedElements, PLACE, PLAIN, rootOf, type Node } from './json-node.ts';
import type { DocumentPath, PathStep } from './document-path.ts';

/** One operation of a document: the place in what one client has done. */
export interface OperationId {
  readonly client: number;
  readonly clock: number;
}

/** What Yjs keeps its operations in. */
type SharedType = Parameters<Y.Transaction['changed']['get']>[0];

/** Two values were written to one member at the same time, and one of them is gone. */
export interface OverwrittenMember {
  readonly path: DocumentPath;
  /** What the edit wrote. */
  readonly own: JsonValue;
  /** What stood there, unseen by the author of the edit; undefined for nothing any more: it was written and removed again. */
  readonly other: JsonValue | undefined;
  readonly otherId: OperationId;
  /** Which of the two stands now. */
  readonly ownStands: boolean;
}

/**
 * Runs `merge`, which merges one edit of `author` into the document, and tells what was overwritten unseen, in either direction.
 *
 * Yjs keeps the writes of one member in a row, each with the one that its author had seen before it, and the last in the row stands. So the edit met
 * something where another stood last before it came than its author had seen.
 */
export function overwrittenBy(doc: Y.Doc, author: number, elementKey: string, merge: () => void): OverwrittenMember[] {
  const found: OverwrittenMember[] = [];
  rootOf(doc); // Until it is asked for, Yjs does not know it for a map.
  // What is deleted in a transaction can still be read in this moment, and not later.
  const look = (transaction: Y.Transaction): void => {
    for (const [type, keys] of transaction.changed) {
      for (const key of keys) if (key !== null && isMember(type, key)) found.push(...overwrittenMember(transaction, author, elementKey, type, key));
    }
  };
  doc.on('afterTransaction', look);
  try {
    merge();
  } finally {
    doc.off('afterTransaction', look);
  }
  return found;
}

/** Members of an object, elements with a name, and the document itself; not what we keep beside them. */
function isMember(type: SharedType, key: string): boolean {
  return key !== PLACE && key !== PLAIN && type instanceof Y.Map;
}

function overwrittenMember(transaction: Y.Transaction, author: number, elementKey: string, type: SharedType, key: string): OverwrittenMember[] {
  const isNew = ({ id }: Y.Item): boolean => id.client === author && id.clock >= (transaction.beforeState.get(author) ?? 0);
  const stands = type._map.get(key);
  const writes: Y.Item[] = [];
  for (let item: Y.Item | null = stands ?? null; item !== null; item = item.left) writes.push(item);
  const own = writes.filter(isNew);
  const other = writes.find((item) => !isNew(item));
  const [last, first] = [own[0], own.at(-1)];
  if (stands === undefined || last === undefined || first === undefined || other === undefined || Y.compareIDs(first.origin, other.lastId)) return [];
  const ownStands = stands === last;
  const otherIsThere = wasThere(transaction, other);
  // Whoever removed it knew nothing of the edit, which is there now.
  if (ownStands && !otherIsThere) return [];
  const member = { path: pathOf(transaction.doc, type, key, elementKey), own: jsonOf(transaction, last), other: otherIsThere ? jsonOf(transaction, other) : undefined, otherId: other.id, ownStands };
  return member.other !== undefined && jsonEquals(member.own, member.other) ? [] : [member];
}

/** Until this transaction. */
function wasThere(transaction: Y.Transaction, item: Y.Item): boolean {
  return !item.deleted || Y.isDeleted(transaction.deleteSet, item.id);
}

function jsonOf(transaction: Y.Transaction, { content }: Y.Item): JsonValue {
  if (content instanceof Y.ContentType) return typeJson(transaction, content.type);
  return (content.getContent()[0] ?? null) as JsonValue;
}

/** As readNode, but of what goes with this transaction. */
function typeJson(transaction: Y.Transaction, type: SharedType): JsonValue {
  const items = itemsOf(type).filter((item) => wasThere(transaction, item));
  if (type instanceof Y.Text) return items.flatMap(({ content }) => (content instanceof Y.ContentString ? [content.str] : [])).join('');
  if (type instanceof Y.Array) return items.flatMap((item) => (item.content instanceof Y.ContentType ? [jsonOf(transaction, item)] : (item.content.getContent() as JsonValue[])));
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
  const step: PathStep = isListNode(type as Node) ? { [elementKey]: elementId(key) } : key;
  return [...pathOfType(doc, type, elementKey), step];
}

function pathOfType(doc: Y.Doc, type: SharedType, elementKey: string): DocumentPath {
  const item = type._item;
  const parent = item?.parent as SharedType | null | undefined;
  if (item === null || parent === null || parent === undefined) return [];
  if (item.parentSub === PLAIN) return pathOfType(doc, parent, elementKey);
  if (item.parentSub !== null) return pathOf(doc, parent, item.parentSub, elementKey);
  // An element without a name stands behind those that have one.
  let index = namedElements(parent.parent as Y.Map<Node>).length;
  for (let left = item.left; left !== null; left = left.left) if (!left.deleted) index += left.length;
  return [...pathOfType(doc, parent, elementKey), index];
}

/** See elementNames. */
function elementId(name: string): string | number {
  return name.startsWith('n') ? Number(name.slice(1)) : name.slice(1);
}
