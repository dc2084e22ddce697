import * as Y from 'yjs';
import type { PathRule } from './document-rule.ts';
import { elementNames } from './element-names.ts';
import { isJsonArray, isJsonObject, jsonEquals, sortedKeys, type JsonObject, type JsonValue } from './json.ts';
import {
  createElement,
  createNode,
  isListNode,
  namedElements,
  PLACE,
  PLAIN,
  plainPart,
  readNode,
  rootValue,
  setRootValue,
  textOf,
  type MapNode,
  type NamedElement,
  type Node,
} from './json-node.ts';
import { positionBetween } from './position.ts';
import { diffSequences } from './sequence-diff.ts';

/**
 * Makes a document hold `value`, with as few operations as it takes: what is equal is not touched, so that what others change there meanwhile stays.
 * Call it in a transaction of the document.
 */
export function writeJson(doc: Y.Doc, value: JsonValue, rule: PathRule): void {
  const node = rootValue(doc);
  if (!changeInPlace(node, value, rule)) setRootValue(doc, createNode(value, rule));
}

/** False when the node cannot become the value and has to be replaced by another. */
function changeInPlace(node: Node | undefined, value: JsonValue, rule: PathRule): boolean {
  if (node instanceof Y.Text) return typeof value === 'string' && rule.isText && changeText(node, value);
  if (node instanceof Y.Map) {
    if (isListNode(node)) return isJsonArray(value) && changeList(node, value, rule);
    return isJsonObject(value) && changeMap(node, value, rule);
  }
  // A string that became a text by a later rule stays as it is until somebody changes it.
  return node === value;
}

function changeMap(map: MapNode, object: JsonObject, rule: PathRule): true {
  for (const key of [...map.keys()].sort()) if (key !== PLACE && !Object.hasOwn(object, key)) map.delete(key);
  for (const key of sortedKeys(object)) {
    const value = object[key] as JsonValue;
    if (!map.has(key) || !changeInPlace(map.get(key), value, rule.member(key))) map.set(key, createNode(value, rule.member(key)));
  }
  return true;
}

function changeText(text: Y.Text, value: string): true {
  const before = Array.from(text.toJSON());
  const after = Array.from(value);
  if (textOf(text) === value) return true;
  // By code point, so that no pair of surrogates is cut. From the right, so that what is to the left keeps its place.
  const starts = unitOffsets(before);
  const splices = diffSequences(before.length, after.length, (i, j) => before[i] === after[j]);
  for (const { at, remove, from, to } of splices.reverse()) {
    const start = starts[at] as number;
    if (remove > 0) text.delete(start, (starts[at + remove] as number) - start);
    if (to > from) text.insert(start, after.slice(from, to).join(''));
  }
  return true;
}

function unitOffsets(characters: readonly string[]): number[] {
  const offsets = [0];
  for (const character of characters) offsets.push((offsets.at(-1) as number) + character.length);
  return offsets;
}

function changeList(list: MapNode, array: readonly JsonValue[], rule: PathRule): true {
  const names = elementNames(array, rule.elementKey);
  changeNamed(list, names ?? [], names === null ? [] : (array as readonly JsonObject[]), rule.element());
  changePlain(plainPart(list), names === null ? array : [], rule.element());
  return true;
}

function changeNamed(list: MapNode, names: readonly string[], objects: readonly JsonObject[], rule: PathRule): void {
  const current = new Map(namedElements(list).map((element) => [element.name, element]));
  const wanted = new Set(names);
  for (const name of [...list.keys()].sort()) if (name !== PLAIN && !wanted.has(name)) list.delete(name);
  const staying = keptPlaces(names, current);
  const nextPlaces = new Array<string | null>(names.length).fill(null);
  for (let index = names.length - 1, next: string | null = null; index >= 0; index--) {
    nextPlaces[index] = next;
    const name = names[index] as string;
    if (staying.has(name)) next = (current.get(name) as NamedElement).place;
  }
  let left: string | null = null;
  for (const [index, name] of names.entries()) {
    const object = objects[index] as JsonObject;
    const element = current.get(name);
    if (element !== undefined) changeMap(element.node, object, rule);
    if (element !== undefined && staying.has(name)) {
      left = element.place;
      continue;
    }
    left = positionBetween(left, nextPlaces[index] ?? null);
    if (element === undefined) list.set(name, createElement(object, left, rule));
    else element.node.set(PLACE, left);
  }
}

/** The most elements that can stay where they are: the longest run of rising places in the wanted order. The rest is moved. */
function keptPlaces(names: readonly string[], current: ReadonlyMap<string, NamedElement>): ReadonlySet<string> {
  const known = names.flatMap((name) => current.get(name) ?? []);
  const tails: number[] = []; // tails[n]: the element with the smallest place that ends a run of n + 1
  const before: number[] = [];
  for (const [index, { place }] of known.entries()) {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((known[tails[middle] as number] as NamedElement).place < place) low = middle + 1;
      else high = middle;
    }
    before[index] = low > 0 ? (tails[low - 1] as number) : -1;
    tails[low] = index;
  }
  const kept = new Set<string>();
  for (let index = tails.at(-1) ?? -1; index >= 0; index = before[index] as number) kept.add((known[index] as NamedElement).name);
  return kept;
}

function changePlain(plain: Y.Array<Node>, array: readonly JsonValue[], rule: PathRule): void {
  const nodes = plain.toArray();
  const before = nodes.map((node) => readNode(node, Infinity));
  const splices = diffSequences(before.length, array.length, (i, j) => jsonEquals(before[i] as JsonValue, array[j] as JsonValue));
  for (const { at, remove, from, to } of splices.reverse()) {
    // Elements that give way to others are changed where that is possible, one by one from the left.
    let same = 0;
    while (same < remove && from + same < to && changeInPlace(nodes[at + same], array[from + same] as JsonValue, rule)) same++;
    if (remove > same) plain.delete(at + same, remove - same);
    const added = array.slice(from + same, to).map((element) => createNode(element, rule));
    if (added.length > 0) plain.insert(at + same, added);
  }
}
