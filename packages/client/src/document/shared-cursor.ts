import { rootOf } from '@rockpool/shared/document';
import {
  createAbsolutePositionFromRelativePosition,
  createRelativePositionFromJSON,
  createRelativePositionFromTypeIndex,
  Map as YMap,
  Text,
  type AbsolutePosition,
  type AbstractType,
  type Doc,
  type RelativePosition,
} from 'yjs';

/** A cursor in the form that editor bindings keep under `cursor` in an Awareness state. */
export interface EditorCursor {
  readonly anchor: RelativePosition;
  readonly head: RelativePosition;
}

/**
 * A cursor in the form that is sent to others. Positions in a Y.Doc are meaningless outside its page. This form
 * therefore names the text and the character in the JSON, and the length of the text, from which others can tell
 * whether they already have the same text.
 */
export interface SharedCursor {
  readonly path: readonly string[];
  readonly anchor: number;
  readonly head: number;
  readonly length: number;
}

/**
 * Converts an editor cursor for sending. Null if it is not a cursor in a text of this document, or if the text has no
 * path because it is in an array whose elements have no key.
 */
export function toSharedCursor(doc: Doc, cursor: unknown): SharedCursor | null {
  if (!isEditorCursor(cursor)) return null;
  const at = (position: RelativePosition): AbsolutePosition | null =>
    createAbsolutePositionFromRelativePosition(createRelativePositionFromJSON(position), doc);
  const [anchor, head] = [at(cursor.anchor), at(cursor.head)];
  if (anchor === null || head === null || anchor.type !== head.type || !(anchor.type instanceof Text)) return null;
  const path = pathOf(anchor.type);
  return path === null ? null : { path, anchor: anchor.index, head: head.index, length: anchor.type.length };
}

/**
 * Converts a received cursor to this page's Y.Doc, and tells whether the text has the length that the sender saw. Null
 * if this page has no such text.
 */
export function toEditorCursor(
  doc: Doc,
  shared: SharedCursor,
): { readonly cursor: EditorCursor; readonly isSettled: boolean } | null {
  let node: unknown = rootOf(doc);
  for (const key of shared.path) node = node instanceof YMap ? node.get(key) : undefined;
  if (!(node instanceof Text)) return null;
  const text = node;
  const at = (index: number): RelativePosition =>
    createRelativePositionFromTypeIndex(text, Math.min(index, text.length));
  return { cursor: { anchor: at(shared.anchor), head: at(shared.head) }, isSettled: text.length === shared.length };
}

/** Validates a cursor received from another device. */
export function isSharedCursor(value: unknown): value is SharedCursor {
  if (typeof value !== 'object' || value === null) return false;
  const { path, anchor, head, length } = value as Partial<Record<keyof SharedCursor, unknown>>;
  return (
    Array.isArray(path) &&
    path.every((key) => typeof key === 'string') &&
    [anchor, head, length].every((index) => Number.isSafeInteger(index) && (index as number) >= 0)
  );
}

function isEditorCursor(value: unknown): value is EditorCursor {
  return (
    typeof value === 'object' &&
    value !== null &&
    'anchor' in value &&
    'head' in value &&
    isObject(value.anchor) &&
    isObject(value.head)
  );
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function pathOf(text: Text): string[] | null {
  const path: string[] = [];
  let { _item: item } = text;
  while (item !== null) {
    if (item.parentSub === null) return null;
    path.unshift(item.parentSub);
    item = (item.parent as AbstractType<unknown>)._item;
  }
  return path;
}
