import * as Y from 'yjs';
import type { PathRule } from './document-rule.ts';
import { elementName, elementNames } from './element-names.ts';
import { differingIndexes, isJsonArray, isJsonObject, jsonEquals, type JsonObject, type JsonValue } from './json.ts';
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
import { positionsBetween } from './position.ts';
import { toRuns } from './rich-text.ts';
import { isRichText, writeRichText } from './rich-text-node.ts';
import { diffSequences } from './sequence-diff.ts';
import { diffText } from './text-diff.ts';

/**
 * Makes a document equal to `value` with as few operations as possible. Equal parts are not changed, so concurrent
 * changes of them are kept. Call it in a transaction of the document. `known` is the JSON of the document, if known;
 * identical values in it are skipped.
 */
export function writeJson(doc: Y.Doc, value: JsonValue, rule: PathRule, known?: JsonValue): void {
  const node = rootValue(doc);
  if (!changeInPlace(node, value, rule, known)) setRootValue(doc, createNode(value, rule));
}

/** Returns false if the node cannot become the value and has to be replaced. */
function changeInPlace(
  node: Node | undefined,
  value: JsonValue,
  rule: PathRule,
  known: JsonValue | undefined,
): boolean {
  if (known !== undefined && known === value) return true;
  if (isRichText(node)) return rule.isRichText && isJsonArray(value) && changeRichText(node, value);
  if (node instanceof Y.Text) return typeof value === 'string' && rule.isText && changeText(node, value);
  if (node instanceof Y.Map) {
    if (isListNode(node))
      return isJsonArray(value) && changeList(node, value, rule, isJsonArray(known) ? known : undefined);
    return isJsonObject(value) && changeMap(node, value, rule, isJsonObject(known) ? known : undefined);
  }
  // A string stays a string until it changes, even if a later rule makes it a text.
  return node === value;
}

function changeMap(map: MapNode, object: JsonObject, rule: PathRule, known: JsonObject | undefined): true {
  const keys = known === undefined ? [...map.keys()] : Object.keys(known);
  for (const key of keys.filter((key) => key !== PLACE && !Object.hasOwn(object, key)).sort()) map.delete(key);
  const differing = Object.keys(object).filter((key) => known === undefined || known[key] !== object[key]);
  for (const key of differing.sort()) {
    const value = object[key] as JsonValue;
    if (!map.has(key) || !changeInPlace(map.get(key), value, rule.member(key), known?.[key]))
      map.set(key, createNode(value, rule.member(key)));
  }
  return true;
}

function changeText(text: Y.Text, value: string): true {
  if (textOf(text) === value) return true;
  // From right to left, so that offsets to the left stay valid.
  for (const { at, removed, inserted } of diffText(text.toJSON(), value).reverse()) {
    if (removed.length > 0) text.delete(at, removed.length);
    if (inserted.length > 0) text.insert(at, inserted);
  }
  return true;
}

function changeRichText(text: Y.Text, value: readonly JsonValue[]): true {
  writeRichText(text, toRuns(value));
  return true;
}

function changeList(
  list: MapNode,
  array: readonly JsonValue[],
  rule: PathRule,
  known: readonly JsonValue[] | undefined,
): true {
  if (known !== undefined && changeNamesake(list, array, rule, known)) return true;
  const names = elementNames(array, rule.elementKey);
  changeNamed(list, names ?? [], names === null ? [] : (array as readonly JsonObject[]), rule, known);
  changePlain(list, names === null ? array : [], rule, known);
  return true;
}

/**
 * Changes only the elements that differ, if no element was added, removed or moved. Otherwise returns false and does
 * nothing.
 */
function changeNamesake(
  list: MapNode,
  array: readonly JsonValue[],
  rule: PathRule,
  known: readonly JsonValue[],
): boolean {
  const names = elementNames(known, rule.elementKey);
  if (names === null || elementNames(array, rule.elementKey, known) !== names) return false;
  const differing = differingIndexes(known, array).map((index) => ({ index, node: list.get(names[index] as string) }));
  if (!differing.every(({ index, node }) => isNamed(node, names[index] as string, rule))) return false;
  for (const { index, node } of differing)
    changeMap(node as MapNode, array[index] as JsonObject, rule.element(), known[index] as JsonObject);
  return true;
}

/** Another site may have put an element with a different name there. */
function isNamed(node: Node | undefined, name: string, { elementKey }: PathRule): boolean {
  return node instanceof Y.Map && elementName({ [elementKey]: node.get(elementKey) as JsonValue }, elementKey) === name;
}

function changeNamed(
  list: MapNode,
  names: readonly string[],
  objects: readonly JsonObject[],
  rule: PathRule,
  known: readonly JsonValue[] | undefined,
): void {
  const current = new Map(namedElements(list).map((element) => [element.name, element]));
  const wanted = new Set(names);
  for (const name of [...list.keys()].sort()) if (name !== PLAIN && !wanted.has(name)) list.delete(name);
  const staying = keptPlaces(names, current);
  const unchanged = new Set<JsonValue>(known);
  let left: string | null = null;
  let places: string[] = []; // of the elements up to the next one that stays, last first
  for (const [index, name] of names.entries()) {
    const object = objects[index] as JsonObject;
    const element = current.get(name);
    if (element !== undefined && !(unchanged.has(object) && isNamed(element.node, name, rule)))
      changeMap(element.node, object, rule.element(), undefined);
    if (staying.has(name)) {
      left = (element as NamedElement).place;
      continue;
    }
    if (places.length === 0) {
      let end = index + 1;
      while (end < names.length && !staying.has(names[end] as string)) end++;
      const next = current.get(names[end] as string)?.place ?? null;
      places = positionsBetween(left, next, end - index).reverse();
    }
    const place = places.pop() as string;
    if (element === undefined) list.set(name, createElement(object, place, rule.element()));
    else element.node.set(PLACE, place);
  }
}

/**
 * The largest set of elements that can keep their places: the longest increasing subsequence of places in the wanted
 * order. The others move.
 */
function keptPlaces(names: readonly string[], current: ReadonlyMap<string, NamedElement>): ReadonlySet<string> {
  const known = names.flatMap((name) => current.get(name) ?? []);
  const tails: number[] = []; // tails[n] is the element with the smallest place that ends a subsequence of length n + 1
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
  for (let index = tails.at(-1) ?? -1; index >= 0; index = before[index] as number)
    kept.add((known[index] as NamedElement).name);
  return kept;
}

function changePlain(
  list: MapNode,
  array: readonly JsonValue[],
  rule: PathRule,
  known: readonly JsonValue[] | undefined,
): void {
  const plain = plainPart(list);
  const nodes = plain.toArray();
  const before =
    known !== undefined && known.length === nodes.length ? known : nodes.map((node) => readNode(node, Infinity));
  const splices = diffSequences(before.length, array.length, (i, j) =>
    jsonEquals(before[i] as JsonValue, array[j] as JsonValue),
  );
  for (const { at, remove, from, to } of splices.reverse()) {
    // Replaced elements are changed in place if possible, one by one from the left.
    let same = 0;
    while (
      same < remove &&
      from + same < to &&
      changeInPlace(nodes[at + same], array[from + same] as JsonValue, rule.element(), before[at + same])
    )
      same++;
    if (remove > same) plain.delete(at + same, remove - same);
    const added = array.slice(from + same, to).map((element) => createNode(element, rule.element()));
    if (added.length > 0) plain.insert(at + same, added);
  }
}
