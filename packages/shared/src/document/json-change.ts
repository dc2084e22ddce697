import { valueAt, withoutValueAt, withValueAt, type DocumentPath } from './document-path.ts';
import { PathRule, type DocumentRule } from './document-rule.ts';
import {
  canonicalJson,
  differingIndexes,
  emptyObject,
  isJsonArray,
  isJsonObject,
  jsonEquals,
  parseJson,
  type JsonObject,
  type JsonValue,
} from './json.ts';
import { elementNames, elementStep } from './element-names.ts';
import { diffSequences } from './sequence-diff.ts';
import type { Run } from './rich-text.ts';
import { applyRichTextChange, diffRuns, invertRichTextChange, type RichTextSplice } from './rich-text-change.ts';
import { diffText } from './text-diff.ts';
import { lastCharacters, nearest, placeOf } from './text-place.ts';

/**
 * The difference between two JSON values, with the old and the new value of every changed place. Its size is
 * proportional to the difference, it can be inverted, and it can be applied to a value that has changed since. Plain
 * JSON, so that it can be stored.
 */
export type JsonChange =
  /** The value was replaced. */
  | { readonly set: readonly [JsonValue, JsonValue] }
  /** A text merged by character. */
  | { readonly text: readonly TextSplice[] }
  /** A rich text. */
  | { readonly richText: readonly RichTextSplice[] }
  /** An object. A member that exists is an array of one value, a missing one an empty array. */
  | { readonly members: Readonly<Record<string, MemberChange>> }
  /**
   * An array of objects with keys: the change of each element by name, and the order of names before and after, if
   * it changed.
   */
  | {
      readonly elements: Readonly<Record<string, MemberChange>>;
      readonly order: readonly [readonly string[], readonly string[]] | null;
    }
  /** Any other array. */
  | { readonly list: readonly ListSplice[] };

export type MemberChange = JsonChange | { readonly swap: readonly [readonly JsonValue[], readonly JsonValue[]] };

/** Offset in the old text, a few unchanged characters before it, the removed text, the inserted text. */
type TextSplice = readonly [at: number, context: string, removed: string, inserted: string];
type ListSplice = readonly [at: number, removed: readonly JsonValue[], inserted: readonly JsonValue[]];

/** Returns null for equal values. */
export function diffJson(before: JsonValue, after: JsonValue, rule: PathRule): JsonChange | null {
  if (jsonEquals(before, after)) return null;
  if (rule.isText && typeof before === 'string' && typeof after === 'string')
    return { text: textSplices(before, after) };
  if (rule.isRichText && isJsonArray(before) && isJsonArray(after))
    return { richText: diffRuns(before as readonly Run[], after as readonly Run[]) };
  if (isJsonObject(before) && isJsonObject(after))
    return { members: diffMembers(before, after, (key) => rule.member(key)) };
  if (isJsonArray(before) && isJsonArray(after)) return diffArrays(before, after, rule);
  return { set: [before, after] };
}

/** The splices of a text, each with the unchanged characters before it. */
function textSplices(before: string, after: string): TextSplice[] {
  let end = 0;
  return diffText(before, after).map(({ at, removed, inserted }): TextSplice => {
    const context = lastCharacters(before.slice(end, at));
    end = at + removed.length;
    return [at, context, removed, inserted];
  });
}

function diffMembers(
  before: JsonObject,
  after: JsonObject,
  ruleOf: (key: string) => PathRule,
): Record<string, MemberChange> {
  const members = Object.create(null) as Record<string, MemberChange>;
  const differing = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (key) => before[key] !== after[key],
  );
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
  const oldNames = elementNames(before, rule.elementKey);
  const newNames = elementNames(after, rule.elementKey, before);
  if (oldNames !== null && newNames !== null && jsonEquals(oldNames, newNames)) {
    const differing = differingIndexes(before, after);
    const differingOf = (array: readonly JsonValue[]): JsonObject =>
      byName(
        differing.map((index) => oldNames[index] as string),
        differing.map((index) => array[index] as JsonValue),
      );
    return { elements: diffMembers(differingOf(before), differingOf(after), () => rule.element()), order: null };
  }
  if (oldNames !== null && newNames !== null)
    return {
      elements: diffMembers(byName(oldNames, before), byName(newNames, after), () => rule.element()),
      order: [oldNames, newNames],
    };
  const splices = diffSequences(before.length, after.length, (i, j) =>
    jsonEquals(before[i] as JsonValue, after[j] as JsonValue),
  );
  return {
    list: splices.map(({ at, remove, from, to }): ListSplice => [
      at,
      before.slice(at, at + remove),
      after.slice(from, to),
    ]),
  };
}

function byName(names: readonly string[], elements: readonly JsonValue[]): Record<string, JsonValue> {
  const object = emptyObject();
  for (const [index, name] of names.entries()) object[name] = elements[index] as JsonValue;
  return object;
}

/** The inverse change. */
export function invertChange(change: JsonChange): JsonChange {
  if ('set' in change) return { set: [change.set[1], change.set[0]] };
  if ('members' in change) return { members: invertMembers(change.members) };
  if ('elements' in change)
    return {
      elements: invertMembers(change.elements),
      order: change.order === null ? null : [change.order[1], change.order[0]],
    };
  if ('richText' in change) return { richText: invertRichTextChange(change.richText) };
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
  readonly overwritten: readonly ChangedPlace[];
}

/**
 * A path whose value was not the one that the change replaced. The change is applied there as far as possible. Texts
 * and unnamed elements that survive in both versions are not reported, because a change removes only parts that its
 * author had seen.
 */
export interface ChangedPlace {
  readonly path: DocumentPath;
  /** True if the change moves an element whose neighbours have changed; false if the value at the path has changed. */
  readonly isMove: boolean;
}

/** Applies a change to a value that may have changed since. The result is exact if it has not. */
export function applyChange(value: JsonValue, change: JsonChange, rule: PathRule): ChangedJson {
  const overwritten: ChangedPlace[] = [];
  return { value: changed(value, change, { rule, path: [], overwritten }), overwritten };
}

/** The current path in a value, and the paths reported so far. */
interface At {
  readonly rule: PathRule;
  readonly path: DocumentPath;
  readonly overwritten: ChangedPlace[];
}

function changed(value: JsonValue, change: JsonChange, at: At): JsonValue {
  if ('set' in change) {
    if (!jsonEquals(value, change.set[0])) tell(at);
    return change.set[1];
  }
  if ('text' in change && typeof value === 'string') return spliceText(value, change.text);
  if ('richText' in change && at.rule.isRichText && isJsonArray(value))
    return applyRichTextChange(value as readonly Run[], change.richText);
  if ('members' in change && isJsonObject(value)) {
    return changeMembers(value, change.members, (key) => ({
      ...at,
      rule: at.rule.member(key),
      path: [...at.path, key],
    }));
  }
  if ('elements' in change && isJsonArray(value)) return changeElements(value, change, at);
  if ('list' in change && isJsonArray(value)) return spliceList(value, change.list, at);
  // The path now has a value of a different kind, which is kept.
  tell(at);
  return value;
}

function tell({ path, overwritten }: At, isMove: boolean = false): void {
  overwritten.push({ path, isMove });
}

function changeMembers(
  object: JsonObject,
  members: Readonly<Record<string, MemberChange>>,
  stepTo: (key: string) => At,
): JsonObject {
  const result = Object.assign(emptyObject(), object);
  for (const key of Object.keys(members)) {
    const change = members[key] as MemberChange;
    const current = result[key];
    if ('swap' in change) {
      const [old, next] = change.swap;
      if (!jsonEquals(current === undefined ? [] : [current], old)) tell(stepTo(key));
      if (next.length === 0) delete result[key];
      else result[key] = next[0] as JsonValue;
    } else if (current === undefined) tell(stepTo(key));
    else result[key] = changed(current, change, stepTo(key));
  }
  return result;
}

function changeElements(
  array: readonly JsonValue[],
  change: Extract<JsonChange, { elements: unknown }>,
  at: At,
): JsonValue {
  const { elementKey } = at.rule;
  const names = elementNames(array, elementKey);
  if (names === null) {
    tell(at);
    return array;
  }
  const stepTo = (name: string): At => ({
    ...at,
    rule: at.rule.element(),
    path: [...at.path, elementStep(name, elementKey)],
  });
  const value = changeMembers(byName(names, array), change.elements, stepTo);
  const order = reorder(names, change.order, (name) => tell(stepTo(name), true)).filter(
    (name) => value[name] !== undefined,
  );
  return order.map((name) => value[name] as JsonValue);
}

/**
 * Places the elements that the change moved after their new predecessors; all others keep their order. Reports elements
 * that others have moved elsewhere.
 */
function reorder(
  names: readonly string[],
  order: readonly [readonly string[], readonly string[]] | null,
  tellMoved: (name: string) => void,
): string[] {
  if (order === null) return [...names];
  const [oldNames, newNames] = order;
  if (jsonEquals(names, oldNames)) return [...newNames];
  const stayed = new Set(stayedOf(oldNames, newNames));
  const stayedThere = new Set(stayedOf(oldNames, names));
  const result = names.filter((name) => stayed.has(name) || !newNames.includes(name));
  for (const [index, name] of newNames.entries()) {
    if (stayed.has(name)) continue;
    const before = newNames.slice(0, index).findLast((earlier) => result.includes(earlier));
    result.splice(before === undefined ? 0 : result.indexOf(before) + 1, 0, name);
  }
  const isMovedTwice = (name: string): boolean =>
    oldNames.includes(name) && names.includes(name) && !stayed.has(name) && !stayedThere.has(name);
  if (!jsonEquals(result, names)) newNames.filter(isMovedTwice).forEach(tellMoved);
  return result;
}

function stayedOf(oldNames: readonly string[], newNames: readonly string[]): string[] {
  const moved = new Set(
    diffSequences(oldNames.length, newNames.length, (i, j) => oldNames[i] === newNames[j]).flatMap(({ from, to }) =>
      newNames.slice(from, to),
    ),
  );
  return newNames.filter((name) => !moved.has(name));
}

function spliceText(value: string, splices: readonly TextSplice[]): string {
  let result = value;
  let shift = 0;
  for (const [at, context, removed, inserted] of splices) {
    const [start, length] = placeOf(result, at + shift, context, removed);
    result = result.slice(0, start) + inserted + result.slice(start + length);
    shift = start - at + inserted.length - length;
  }
  return result;
}

function spliceList(value: readonly JsonValue[], splices: readonly ListSplice[], place: At): JsonValue {
  const texts = value.map(canonicalJson);
  const result = [...value];
  let shift = 0;
  let isChanged = false;
  for (const [at, removed, inserted] of splices) {
    const wanted = removed.map(canonicalJson);
    const found = nearest(at + shift, texts.length, (start) =>
      wanted.every((text, index) => texts[start + index] === text),
    );
    // For a scalar, others can only have made the same change. A container may have been changed inside, and is kept.
    if (found === null && removed.some((element) => isJsonObject(element) || isJsonArray(element))) isChanged = true;
    const start = found ?? Math.min(at + shift, texts.length);
    const count = found === null ? 0 : removed.length;
    result.splice(start, count, ...inserted);
    texts.splice(start, count, ...inserted.map(canonicalJson));
    shift = start - at + inserted.length - count;
  }
  if (isChanged) tell(place);
  return result;
}

/**
 * Applies the change from `from` to `to` to the JSON text `onto`, except at places where the values in `onto` and
 * `from` differ.
 */
export function mergeJsonTexts(from: string, to: string, onto: string, rule: DocumentRule): string {
  const root = PathRule.root(rule);
  const change = diffJson(parseJson(from, rule), parseJson(to, rule), root);
  if (change === null) return onto;
  const now = parseJson(onto, rule);
  const { value, overwritten } = applyChange(now, change, root);
  return canonicalJson(withPlacesOf(now, value, overwritten));
}

/** The value with these places as they are in `source`. If a place no longer exists, the result is `source`. */
export function withPlacesOf(source: JsonValue, value: JsonValue, places: readonly ChangedPlace[]): JsonValue {
  return places.reduce<JsonValue>((result, { path, isMove }) => {
    if (isMove) return result;
    const place = valueAt(source, path);
    return (place === undefined ? withoutValueAt(result, path) : withValueAt(result, path, place)) ?? source;
  }, value);
}
