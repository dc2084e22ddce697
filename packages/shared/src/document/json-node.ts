import * as Y from 'yjs';
import {
  emptyObject,
  expectText,
  invalid,
  isAllowedKey,
  isJsonArray,
  sortedKeys,
  type JsonObject,
  type JsonValue,
} from './json.ts';
import { RICH_TEXT_DEPTH, type PathRule } from './document-rule.ts';
import { elementNames } from './element-names.ts';
import { isPosition, positionBetween } from './position.ts';
import { toRuns } from './rich-text.ts';
import { createRichText, isRichText, readRichText } from './rich-text-node.ts';

/*
 * JSON as Yjs types. The document is the value under one key of one shared map, so it can be any JSON value, null
 * included.
 *
 *     object          Y.Map, one key per member
 *     array           Y.Map with PLAIN. Objects that differ in their `elementKey` are entries of this map under their
 *                     name, each a Y.Map with its PLACE: an element moves by one small write, and keeps concurrent
 *                     changes inside it. All other elements are in the Y.Array under PLAIN, identified by their index.
 *     text            Y.Text, where the rule says that it merges by character
 *     rich text       Y.Text with RICH (rich-text-node.ts), where the rule says so
 *     other scalars   as they are: of two concurrent ones Yjs keeps one
 *
 * Our own keys begin with NUL, which no key of a document can.
 */
export const PLAIN = '\u0000plain';
export const PLACE = '\u0000place';

const ROOT = 'json';
/** The only key of the root. */
export const VALUE = 'value';

export type Node = null | boolean | number | string | Y.Map<Node> | Y.Array<Node> | Y.Text;
export type MapNode = Y.Map<Node>;

export function rootOf(doc: Y.Doc): MapNode {
  return doc.getMap<Node>(ROOT);
}

/** The value of a document. */
export function rootValue(doc: Y.Doc): Node {
  return rootOf(doc).get(VALUE) ?? null;
}

export function setRootValue(doc: Y.Doc, node: Node): void {
  rootOf(doc).set(VALUE, node);
}

export function isListNode(node: Node | undefined): node is MapNode {
  return node instanceof Y.Map && node.has(PLAIN);
}

export function plainPart(list: MapNode): Y.Array<Node> {
  const plain = list.get(PLAIN);
  if (!(plain instanceof Y.Array)) throw invalid('structure');
  return plain;
}

export interface NamedElement {
  readonly name: string;
  readonly place: string;
  readonly node: MapNode;
}

/**
 * The named elements of a list, in order. Elements with the same place, from concurrent inserts, are ordered by name.
 */
export function namedElements(list: MapNode): NamedElement[] {
  const elements: NamedElement[] = [];
  for (const [name, node] of list.entries()) {
    if (name === PLAIN) continue;
    const place = node instanceof Y.Map ? node.get(PLACE) : undefined;
    if (!(node instanceof Y.Map) || !isPosition(place)) throw invalid('structure');
    elements.push({ name, place, node });
  }
  return elements.sort((a, b) => compareTexts(a.place, b.place) || compareTexts(a.name, b.name));
}

/** Creates a node that is not part of a document yet. */
export function createNode(value: JsonValue, rule: PathRule): Node {
  if (typeof value === 'string') return rule.isText ? new Y.Text(value) : value;
  if (value === null || typeof value !== 'object') return value;
  if (rule.isRichText && isJsonArray(value)) return createRichText(toRuns(value));
  return isJsonArray(value) ? createList(value, rule) : createMap(value, rule);
}

function createMap(object: JsonObject, rule: PathRule): MapNode {
  const map = new Y.Map<Node>();
  for (const key of sortedKeys(object)) map.set(key, createNode(object[key] as JsonValue, rule.member(key)));
  return map;
}

export function createElement(object: JsonObject, place: string, rule: PathRule): MapNode {
  const map = createMap(object, rule);
  map.set(PLACE, place);
  return map;
}

function createList(array: readonly JsonValue[], rule: PathRule): MapNode {
  const list = new Y.Map<Node>();
  const plain = new Y.Array<Node>();
  list.set(PLAIN, plain);
  const names = elementNames(array, rule.elementKey);
  if (names === null) {
    plain.push(array.map((element) => createNode(element, rule.element())));
    return list;
  }
  let place: string | null = null;
  for (const [index, name] of names.entries()) {
    place = positionBetween(place, null);
    list.set(name, createElement(array[index] as JsonObject, place, rule.element()));
  }
  return list;
}

/**
 * The JSON of a node, with objects without prototypes. Throws `document-invalid` for structures that createNode never
 * makes, and beyond `maxDepth`: documents come from other devices, and Yjs itself reads any content.
 */
export function readNode(node: Node | undefined, maxDepth: number): JsonValue {
  if (node === null || typeof node === 'boolean') return node;
  if (typeof node === 'string') return expectText(node);
  if (typeof node === 'number') {
    if (!Number.isFinite(node)) throw invalid('number');
    return Object.is(node, -0) ? 0 : node;
  }
  if (isRichText(node)) return maxDepth < RICH_TEXT_DEPTH ? tooDeep() : readRichText(node);
  if (node instanceof Y.Text) return textOf(node);
  if (!(node instanceof Y.Map)) throw invalid('structure');
  if (maxDepth <= 0) return tooDeep();
  return isListNode(node) ? readList(node, maxDepth - 1) : readMap(node, maxDepth - 1);
}

function readMap(map: MapNode, maxDepth: number): JsonObject {
  const object = emptyObject();
  for (const [key, node] of map.entries()) {
    if (key === PLACE) continue;
    if (!isAllowedKey(key)) throw invalid('key');
    object[expectText(key)] = readNode(node, maxDepth);
  }
  return object;
}

function readList(list: MapNode, maxDepth: number): JsonValue[] {
  const elements: JsonValue[] = [];
  for (const { node } of namedElements(list)) {
    if (maxDepth <= 0) return tooDeep();
    elements.push(readMap(node, maxDepth - 1));
  }
  for (const node of plainPart(list)) elements.push(readNode(node, maxDepth));
  return elements;
}

function tooDeep(): never {
  throw invalid('depth');
}

/**
 * The string of a text. Throws `document-invalid` for embedded content, which takes a position among the characters but
 * has no character in the JSON.
 */
export function textOf(text: Y.Text): string {
  let characters = '';
  for (let item = text._start; item !== null; item = item.right) {
    const { content } = item;
    if (item.deleted || !item.countable) continue;
    if (!(content instanceof Y.ContentString)) throw invalid('structure');
    characters += content.str;
  }
  // Deleting half of a surrogate pair leaves the other half: two users may each delete one.
  return expectText(characters.toWellFormed());
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
