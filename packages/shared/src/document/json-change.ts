import type { PathRule } from './document-rule.ts';
import { canonicalJson, emptyObject, isJsonArray, isJsonObject, jsonEquals, type JsonObject, type JsonValue } from './json.ts';
import { elementNames } from './element-names.ts';
import { diffSequences } from './sequence-diff.ts';
import { diffText } from './text-diff.ts';

/**
 * What differs between two JSON values, with the old and the new of every place: it weighs what the difference weighs, can be turned round,
 * and can be made in a value that has meanwhile become another. Itself plain JSON, so that it can be stored.
 */
export type JsonChange =
  /** The value is another one. */
  | { readonly set: readonly [JsonValue, JsonValue] }
  /** A text merged by character. */
  | { readonly text: readonly TextSplice[] }
  /** An object: an array of one value is a member that is there, an empty array one that is not. */
  | { readonly members: Readonly<Record<string, MemberChange>> }
  /** An array of objects told apart by their key: what became of each by name, and the names in order, before and after, where that changed. */
  | { readonly elements: Readonly<Record<string, MemberChange>>; readonly order: readonly [readonly string[], readonly string[]] | null }
  /** Any other array. */
  | { readonly list: readonly ListSplice[] };

export type MemberChange = JsonChange | { readonly swap: readonly [readonly JsonValue[], readonly JsonValue[]] };

/** Place in the old text, a few unchanged characters before it, what goes, what comes. */
type TextSplice = readonly [at: number, context: string, removed: string, inserted: string];
type ListSplice = readonly [at: number, removed: readonly JsonValue[], inserted: readonly JsonValue[]];

/** So many characters before a change find its place again in a text that others changed. */
const CONTEXT_LENGTH = 12;

/** Null when the values are equal. */
export function diffJson(before: JsonValue, after: JsonValue, rule: PathRule): JsonChange | null {
  if (jsonEquals(before, after)) return null;
  if (rule.isText && typeof before === 'string' && typeof after === 'string') return { text: textSplices(before, after) };
  if (isJsonObject(before) && isJsonObject(after)) return { members: diffMembers(before, after, (key) => rule.member(key)) };
  if (isJsonArray(before) && isJsonArray(after)) return diffArrays(before, after, rule);
  return { set: [before, after] };
}

/** The splices of a text, each with what stands before it, as far as that is not itself changed. */
function textSplices(before: string, after: string): TextSplice[] {
  let end = 0;
  return diffText(before, after).map(({ at, removed, inserted }): TextSplice => {
    const context = lastCharacters(before.slice(end, at));
    end = at + removed.length;
    return [at, context, removed, inserted];
  });
}

function lastCharacters(text: string): string {
  // Twice as many units hold as many characters, and the pair of surrogates that they may begin in.
  return Array.from(text.slice(-2 * CONTEXT_LENGTH - 1)).slice(-CONTEXT_LENGTH).join('');
}

function diffMembers(before: JsonObject, after: JsonObject, ruleOf: (key: string) => PathRule): Record<string, MemberChange> {
  const members = Object.create(null) as Record<string, MemberChange>;
  const differing = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((key) => before[key] !== after[key]);
  for (const key of differing.sort()) {
    const old = before[key];
    const value = after[key];
    if (old !== undefined && value !== undefined) {
      const change = diffJson(old, value, ruleOf(key));
      if (change !== null) members[key] = change;
    } else members[key] = { swap: [old === undefined ? [] : [old], value === undefined ? [] : [value]] };
  }
  return members;
}

function diffArrays(before: readonly JsonValue[], after: readonly JsonValue[], rule: PathRule): JsonChange {
  const olds = elementNames(before, rule.elementKey);
  const news = elementNames(after, rule.elementKey, before);
  if (olds !== null && news !== null && jsonEquals(olds, news)) {
    const differing = olds.flatMap((_, index) => (before[index] === after[index] ? [] : [index]));
    const differingOf = (array: readonly JsonValue[]): JsonObject => byName(differing.map((index) => olds[index] as string), differing.map((index) => array[index] as JsonValue));
    return { elements: diffMembers(differingOf(before), differingOf(after), () => rule.element()), order: null };
  }
  if (olds !== null && news !== null) return { elements: diffMembers(byName(olds, before), byName(news, after), () => rule.element()), order: [olds, news] };
  const splices = diffSequences(before.length, after.length, (i, j) => jsonEquals(before[i] as JsonValue, after[j] as JsonValue));
  return { list: splices.map(({ at, remove, from, to }): ListSplice => [at, before.slice(at, at + remove), after.slice(from, to)]) };
}

function byName(names: readonly string[], elements: readonly JsonValue[]): Record<string, JsonValue> {
  const object = emptyObject();
  for (const [index, name] of names.entries()) object[name] = elements[index] as JsonValue;
  return object;
}

/** The change back. */
export function invertChange(change: JsonChange): JsonChange {
  if ('set' in change) return { set: [change.set[1], change.set[0]] };
  if ('members' in change) return { members: invertMembers(change.members) };
  if ('elements' in change) return { elements: invertMembers(change.elements), order: change.order === null ? null : [change.order[1], change.order[0]] };
  let shift = 0;
  if ('text' in change) {
    return {
      text: change.text.map(([at, context, removed, inserted]): TextSplice => {
        const splice: TextSplice = [at + shift, context, inserted, removed];
        shift += inserted.length - removed.length;
        return splice;
      }),
    };
  }
  return {
    list: change.list.map(([at, removed, inserted]): ListSplice => {
      const splice: ListSplice = [at + shift, inserted, removed];
      shift += inserted.length - removed.length;
      return splice;
    }),
  };
}

function invertMembers(members: Readonly<Record<string, MemberChange>>): Record<string, MemberChange> {
  const inverted = Object.create(null) as Record<string, MemberChange>;
  for (const key of Object.keys(members)) {
    const change = members[key] as MemberChange;
    inverted[key] = 'swap' in change ? { swap: [change.swap[1], change.swap[0]] } : invertChange(change);
  }
  return inverted;
}

export interface ChangedJson {
  readonly value: JsonValue;
  /** Places where the old value was no longer what the change replaced. It is made there all the same, as well as it can be. */
  readonly overwritten: number;
}

/** Makes a change in a value that may have become another one since. Exact where it has not. */
export function applyChange(value: JsonValue, change: JsonChange, rule: PathRule): ChangedJson {
  if ('set' in change) return { value: change.set[1], overwritten: jsonEquals(value, change.set[0]) ? 0 : 1 };
  if ('text' in change && typeof value === 'string') return spliceText(value, change.text);
  if ('members' in change && isJsonObject(value)) return changeMembers(value, change.members, (key) => rule.member(key));
  if ('elements' in change && isJsonArray(value)) return changeElements(value, change, rule);
  if ('list' in change && isJsonArray(value)) return spliceList(value, change.list);
  // The place holds something of another kind now: what is there stays.
  return { value, overwritten: 1 };
}

function changeMembers(object: JsonObject, members: Readonly<Record<string, MemberChange>>, ruleOf: (key: string) => PathRule): ChangedJson & { value: JsonObject } {
  const result = Object.assign(emptyObject(), object);
  let overwritten = 0;
  for (const key of Object.keys(members)) {
    const change = members[key] as MemberChange;
    const current = result[key];
    if ('swap' in change) {
      const [old, next] = change.swap;
      if (!jsonEquals(current === undefined ? [] : [current], old)) overwritten++;
      if (next.length === 0) delete result[key];
      else result[key] = next[0] as JsonValue;
    } else if (current === undefined) overwritten++;
    else {
      const inner = applyChange(current, change, ruleOf(key));
      result[key] = inner.value;
      overwritten += inner.overwritten;
    }
  }
  return { value: result, overwritten };
}

function changeElements(array: readonly JsonValue[], change: Extract<JsonChange, { elements: unknown }>, rule: PathRule): ChangedJson {
  const names = elementNames(array, rule.elementKey);
  if (names === null) return { value: array, overwritten: 1 };
  const { value, overwritten } = changeMembers(byName(names, array), change.elements, () => rule.element());
  const order = reorder(names, change.order).filter((name) => value[name] !== undefined);
  return { value: order.map((name) => value[name] as JsonValue), overwritten };
}

/** Puts what the change placed behind what it stood behind there; all else keeps its order. */
function reorder(names: readonly string[], order: readonly [readonly string[], readonly string[]] | null): string[] {
  if (order === null) return [...names];
  const [olds, news] = order;
  if (jsonEquals(names, olds)) return [...news];
  const stayed = new Set(diffStayed(olds, news));
  const result = names.filter((name) => stayed.has(name) || !news.includes(name));
  for (const [index, name] of news.entries()) {
    if (stayed.has(name)) continue;
    const before = news.slice(0, index).findLast((earlier) => result.includes(earlier));
    result.splice(before === undefined ? 0 : result.indexOf(before) + 1, 0, name);
  }
  return result;
}

function diffStayed(olds: readonly string[], news: readonly string[]): string[] {
  const moved = new Set(diffSequences(olds.length, news.length, (i, j) => olds[i] === news[j]).flatMap(({ from, to }) => news.slice(from, to)));
  return news.filter((name) => !moved.has(name));
}

function spliceText(value: string, splices: readonly TextSplice[]): ChangedJson {
  let result = value;
  let shift = 0;
  let overwritten = 0;
  for (const [at, context, removed, inserted] of splices) {
    const place = placeOf(result, at + shift, context, removed);
    if (place === null) overwritten++;
    const start = place ?? Math.min(at + shift, result.length);
    const end = place === null ? start : start + removed.length;
    result = result.slice(0, start) + inserted + result.slice(end);
    shift += start - (at + shift) + inserted.length - (end - start);
  }
  return { value: result, overwritten };
}

/** Where the most of what stood before it stands: what others changed a little further before does not move a change away from its word. */
function placeOf(text: string, at: number, context: string, removed: string): number | null {
  for (let from = 0; from < context.length; from++) {
    const known = context.slice(from);
    const place = nearest(at, text.length, (start) => start >= known.length && text.startsWith(known + removed, start - known.length));
    if (place !== null) return place;
  }
  return nearest(at, text.length, (start) => text.startsWith(removed, start));
}

function spliceList(value: readonly JsonValue[], splices: readonly ListSplice[]): ChangedJson {
  const texts = value.map(canonicalJson);
  const result = [...value];
  let shift = 0;
  let overwritten = 0;
  for (const [at, removed, inserted] of splices) {
    const wanted = removed.map(canonicalJson);
    const place = nearest(at + shift, texts.length, (start) => wanted.every((text, index) => texts[start + index] === text));
    if (place === null) overwritten++;
    const start = place ?? Math.min(at + shift, texts.length);
    const count = place === null ? 0 : removed.length;
    result.splice(start, count, ...inserted);
    texts.splice(start, count, ...inserted.map(canonicalJson));
    shift += start - (at + shift) + inserted.length - count;
  }
  return { value: result, overwritten };
}

/** How far from where it was a run of characters or elements is looked for. */
const REACH = 1000;

function nearest(at: number, length: number, matches: (start: number) => boolean): number | null {
  for (let distance = 0; distance <= Math.min(length, REACH); distance++) {
    if (at - distance >= 0 && at - distance <= length && matches(at - distance)) return at - distance;
    if (at + distance <= length && matches(at + distance)) return at + distance;
  }
  return null;
}
