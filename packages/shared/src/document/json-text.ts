import {
  canonicalJson,
  emptyObject,
  invalid,
  isJsonArray,
  isJsonObject,
  parseJson,
  sortedKeys,
  type JsonLimits,
  type JsonValue,
} from './json.ts';
import { RockpoolError } from '../errors/rockpool-error.ts';

/*
 * Caches canonical texts of documents with their values, so that a text that differs from a known one in a few places
 * is parsed only there. A value that was created from another one shares all equal parts with it, and identical objects
 * need no comparison.
 */
export interface JsonText {
  /** The text in canonical form. */
  readonly text: string;
  readonly value: JsonValue;
}

interface KnownText extends JsonText {
  /** An upper limit for the depth of the value. */
  readonly maxDepth: number;
  /** The text that this one replaced, kept so that a write can be compared with both. */
  readonly replaced: JsonText | null;
}

/**
 * Limit for all cached texts together, in UTF-16 units, without the replaced ones: some of the largest documents, or
 * many small ones.
 */
const MAX_KNOWN_LENGTH = 4 * 1024 * 1024;

/** Limit for the number of entries, which are searched linearly. */
const MAX_KNOWN = 32;

/** Shorter texts are parsed faster than compared with the cache. */
const MIN_KNOWN_LENGTH = 4 * 1024;

/** The cached texts, most recently used first. */
let known: readonly KnownText[] = [];

/** Cached texts by their value. */
const textOfValue = new WeakMap<object, string>();

/** The canonical text of a value, from the cache if possible. */
export function canonicalTextOf(value: JsonValue): string {
  return (isContainer(value) ? textOfValue.get(value) : undefined) ?? canonicalJson(value);
}

/** Adds a text to the cache. `maxDepth` is an upper limit for the depth of the value. */
export function rememberText(text: string, value: JsonValue, maxDepth: number): void {
  remember({ text, value, maxDepth, replaced: null }, null);
}

function remember(entry: KnownText, inPlaceOf: JsonText | null): void {
  if (entry.text.length < MIN_KNOWN_LENGTH || !isContainer(entry.value)) return;
  textOfValue.set(entry.value, entry.text);
  let length = 0;
  known = [entry, ...known.filter((other) => other.value !== inPlaceOf?.value && other.value !== entry.value)].filter(
    ({ text }, index) => index < MAX_KNOWN && (length += text.length) <= MAX_KNOWN_LENGTH,
  );
}

/** Parses a stored text. Throws like parseJson. */
export function readStoredJson(text: string, limits: JsonLimits): JsonValue {
  if (text.length < MIN_KNOWN_LENGTH) return parseJson(text, limits);
  return find(text)?.value ?? canonicalOf(text, limits).value;
}

/**
 * The canonical form of a text that replaces another one (null if there is none). Parses only the part that differs.
 * Throws like parseJson.
 */
export function readChangedJson(text: string, before: string | null, limits: JsonLimits): JsonText {
  const from = before === null || before.length < MIN_KNOWN_LENGTH ? undefined : knownText(before, limits);
  const changed = from === undefined ? null : changeText(from, text, limits);
  if (from === undefined || changed === null) return canonicalOf(text, limits);
  // The identical string is found without comparing characters.
  remember({ ...changed, maxDepth: limits.maxDepth, replaced: { text: before ?? from.text, value: from.value } }, from);
  return changed;
}

function find(text: string): JsonText | undefined {
  for (const entry of known) {
    if (entry.text === text) return entry;
    if (entry.replaced?.text === text) return entry.replaced;
  }
  return undefined;
}

function canonicalOf(text: string, limits: JsonLimits): JsonText {
  const same = known.find((other) => other.text === text && other.maxDepth <= limits.maxDepth);
  if (same !== undefined && text.length <= limits.maxLength) return same;
  const value = parseJson(text, limits);
  const canonical = canonicalJson(value);
  rememberText(canonical, value, limits.maxDepth);
  return { text: canonical, value };
}

/** Undefined for a text that is not canonical, as in a column from before it became a document. */
function knownText(text: string, limits: JsonLimits): JsonText | undefined {
  const found = find(text);
  if (found !== undefined) return found;
  try {
    const read = canonicalOf(text, limits);
    return read.text === text ? read : undefined;
  } catch (thrown) {
    if (thrown instanceof RockpoolError) return undefined;
    throw thrown;
  }
}

type Container = Extract<JsonValue, object>;

/** The offsets of a container's children in its canonical text, relative to its first character. */
interface Spans {
  /** The keys of an object, in the order of the text. Null for an array. */
  readonly keys: readonly string[] | null;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

/** A container on the path to a value, and the child through which the path leads. */
interface Step {
  readonly container: Container;
  readonly index: number;
  /** The offset of the container. */
  readonly at: number;
}

/** A replaced stretch of a text: from `start` to `oldEnd` in the old text, to `newEnd` in the new one. */
interface Stretch {
  readonly start: number;
  readonly oldEnd: number;
  readonly newEnd: number;
}

/**
 * Parses a text that differs from a known one in one stretch: descends to the smallest value that contains the stretch,
 * and ascends again until the new text of a value is JSON. The text around that value is unchanged, and so is its
 * value. Null if the whole text must be parsed.
 */
function changeText(before: JsonText, text: string, limits: JsonLimits): JsonText | null {
  if (text.length > limits.maxLength) throw invalid('size', { limit: limits.maxLength });
  const stretch = differingStretch(before.text, text);
  const way = wayTo(before.value, stretch);
  const shift = stretch.newEnd - stretch.oldEnd;
  for (let step = way.pop(); step !== undefined; step = way.pop()) {
    const { container, index, at } = step;
    const depth = limits.maxDepth - way.length - 1;
    const [first, last] = isJsonArray(container) ? childrenAround(spansOf(container), stretch, at) : [index, index];
    const { starts, ends } = spansOf(container);
    const from = at + (starts[first] as number);
    const to = at + (ends[last] as number);
    if (from > stretch.start || to < stretch.oldEnd) continue;
    const replaced = readChildren(text.slice(from, to + shift), isJsonArray(container), { ...limits, maxDepth: depth });
    if (replaced === null) continue;
    const { children, written } = replaced;
    const value = withChildren(container, first, last, children, written.length - (to - from));
    const isCanonical = written.length === to + shift - from && text.startsWith(written, from);
    return {
      text: isCanonical ? text : `${text.slice(0, from)}${written}${text.slice(to + shift)}`,
      value: rebuilt(way, value, written.length - (to - from)),
    };
  }
  return null;
}

/**
 * The children at a position of a container, as values and as canonical text; null if the text is not a list of
 * children.
 */
function readChildren(
  text: string,
  areElements: boolean,
  limits: JsonLimits,
): { readonly children: readonly JsonValue[]; readonly written: string } | null {
  if (!isSyntax(areElements ? `[${text}]` : text)) return null;
  if (!areElements) {
    const value = parseJson(text, limits);
    return { children: [value], written: canonicalJson(value) };
  }
  // The brackets around the text do not count towards the limits of depth and length.
  const children = parseJson(`[${text}]`, {
    maxDepth: limits.maxDepth + 1,
    maxLength: limits.maxLength + 2,
  }) as readonly JsonValue[];
  return children.length === 0 ? null : { children, written: canonicalJson(children).slice(1, -1) };
}

function isSyntax(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function wayTo(root: JsonValue, stretch: Stretch): Step[] {
  const way: Step[] = [];
  let value = root;
  for (let at = 0; isContainer(value);) {
    const spans = spansOf(value);
    if (spans.starts.length === 0) break;
    const [first, last] = childrenAround(spans, stretch, at);
    const start = at + (spans.starts[first] as number);
    const isInside = first === last && start <= stretch.start && stretch.oldEnd <= at + (spans.ends[first] as number);
    // If the change is between members, the whole object is parsed; if it is between elements, only those.
    if (!isInside && !isJsonArray(value)) break;
    way.push({ container: value, index: first, at });
    if (!isInside) break;
    value = childOf(value, spans, first);
    at = start;
  }
  return way;
}

/** The children from the last one that begins before the stretch to the first one that ends after it. */
function childrenAround(
  { starts, ends }: Spans,
  { start, oldEnd }: Stretch,
  at: number,
): [first: number, last: number] {
  const first = Math.max(0, firstWhere(starts.length, (index) => at + (starts[index] as number) > start) - 1);
  const last = Math.min(
    ends.length - 1,
    firstWhere(ends.length, (index) => at + (ends[index] as number) >= oldEnd),
  );
  return [first, Math.max(first, last)];
}

function firstWhere(length: number, holds: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function rebuilt(way: readonly Step[], changed: JsonValue, grownBy: number): JsonValue {
  return way.reduceRight<JsonValue>(
    (child, { container, index }) => withChildren(container, index, index, [child], grownBy),
    changed,
  );
}

/**
 * A copy of a container with new children in place of those from `first` to `last`. If their number is unchanged, only
 * the spans of the others shift.
 */
function withChildren(
  container: Container,
  first: number,
  last: number,
  children: readonly JsonValue[],
  grownBy: number,
): Container {
  const { keys, starts, ends } = spansOf(container);
  const changed = isJsonArray(container)
    ? container.toSpliced(first, last - first + 1, ...children)
    : Object.assign(emptyObject(), container, { [keys?.[first] as string]: children[0] });
  if (first !== last || children.length !== 1) return changed;
  spansOfContainer.set(
    changed,
    grownBy === 0
      ? spansOf(container)
      : { keys, starts: shifted(starts, first + 1, grownBy), ends: shifted(ends, first, grownBy) },
  );
  return changed;
}

function shifted(places: Uint32Array, from: number, by: number): Uint32Array {
  const moved = places.slice();
  for (let index = from; index < moved.length; index++) moved[index] = (places[index] as number) + by;
  return moved;
}

const spansOfContainer = new WeakMap<object, Spans>();

function spansOf(container: Container): Spans {
  const found = spansOfContainer.get(container);
  if (found !== undefined) return found;
  const keys = isJsonObject(container) ? sortedKeys(container) : null;
  const count = keys === null ? (container as readonly JsonValue[]).length : keys.length;
  const spans: Spans = { keys, starts: new Uint32Array(count), ends: new Uint32Array(count) };
  let at = 1;
  for (let index = 0; index < count; index++) {
    if (keys !== null) at += textLength(keys[index] as string) + 1;
    spans.starts[index] = at;
    at += textLength(childOf(container, spans, index));
    spans.ends[index] = at++;
  }
  spansOfContainer.set(container, spans);
  return spans;
}

function childOf(container: Container, { keys }: Spans, index: number): JsonValue {
  return isJsonArray(container)
    ? (container[index] as JsonValue)
    : ((container as Record<string, JsonValue>)[keys?.[index] as string] as JsonValue);
}

/** Text that JSON writes without escapes. Other text is written out and then measured. */
const UNESCAPED = /^[^"\\\p{Cc}\p{Cs}]*$/u;

/** Length of the canonical text. */
function textLength(value: JsonValue): number {
  if (typeof value === 'string' && UNESCAPED.test(value)) return value.length + 2;
  if (!isContainer(value)) return JSON.stringify(value).length;
  const found = spansOfContainer.get(value);
  if (found !== undefined) return (found.ends.at(-1) ?? 1) + 1;
  let length = 2;
  if (isJsonArray(value)) for (const element of value) length += textLength(element) + 1;
  else for (const key of Object.keys(value)) length += textLength(key) + 1 + textLength(value[key] as JsonValue) + 1;
  // The last child has no comma after it.
  return Math.max(2, length - 1);
}

function differingStretch(before: string, after: string): Stretch {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  let end = 0;
  for (const block of BLOCKS) {
    while (start + block <= shorter && before.slice(start, start + block) === after.slice(start, start + block))
      start += block;
  }
  for (const block of BLOCKS) {
    while (start + end + block <= shorter && lastOf(before, end, block) === lastOf(after, end, block)) end += block;
  }
  return { start, oldEnd: before.length - end, newEnd: after.length - end };
}

/**
 * Equal stretches are compared block by block, which is many times faster than by character, and the last block in
 * smaller blocks.
 */
const BLOCKS: readonly number[] = [4096, 256, 16, 1];

/** The block that ends `end` characters before the end of the text. */
function lastOf(text: string, end: number, block: number): string {
  return text.slice(text.length - end - block, text.length - end);
}

function isContainer(value: JsonValue): value is Container {
  return typeof value === 'object' && value !== null;
}
