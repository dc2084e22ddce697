import { RockpoolError } from '../errors/rockpool-error.ts';

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

/** An object that we create has no prototype, so that a key never names an inherited member. */
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

export interface JsonLimits {
  /** Maximum length of the canonical text, in UTF-16 units. */
  readonly maxLength: number;
  /** Maximum nesting of arrays and objects; a scalar has depth 0. */
  readonly maxDepth: number;
}

/** Keys that change the prototype of an object when code copies them into it. */
const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** Text that may contain a number beyond what a JSON number represents exactly. */
const LONG_NUMBER = /[0-9]{16}/;
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/g;
const INTEGER = /^-?[0-9]+$/;

/**
 * Parses JSON text into a value with objects without prototypes.
 *
 * Throws `document-invalid` with a `problem`: `syntax`, `depth`, `size`, `key` (a forbidden key), `text` (NUL or a lone
 * surrogate), `number` (an integer that does not survive parsing: beyond 2^53 most do not).
 */
export function parseJson(text: string, limits: JsonLimits): JsonValue {
  return withoutPrototypes(parseWithin(text, limits));
}

/** Returns the canonical form of a JSON text. Throws like parseJson. */
export function toCanonicalText(text: string, limits: JsonLimits): string {
  return canonicalJson(parseWithin(text, limits));
}

/** Applies the same checks to a value that is not a text. Throws like parseJson. */
export function checkJson(value: unknown, maxDepth: number): JsonValue {
  expectJson(value, maxDepth);
  return withoutPrototypes(value);
}

function parseWithin(text: string, limits: JsonLimits): JsonValue {
  if (text.length > limits.maxLength) throw invalid('size', { limit: limits.maxLength });
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw invalid('syntax');
  }
  if (LONG_NUMBER.test(text) && hasInexactInteger(text)) throw invalid('number');
  expectJson(parsed, limits.maxDepth);
  return parsed;
}

function expectJson(value: unknown, maxDepth: number): asserts value is JsonValue {
  if (value === null || typeof value === 'boolean') return;
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw invalid('number');
    return;
  }
  if (typeof value === 'string') return void expectText(value);
  if (typeof value !== 'object') throw invalid('type');
  if (maxDepth <= 0) throw invalid('depth');
  if (Array.isArray(value)) {
    for (const element of value) expectJson(element, maxDepth - 1);
    return;
  }
  for (const key of Object.keys(value)) {
    if (!isAllowedKey(key)) throw invalid('key');
    expectText(key);
    expectJson((value as Record<string, unknown>)[key], maxDepth - 1);
  }
}

/** A copy with sorted keys. JavaScript puts keys that are integers first. */
function withoutPrototypes(value: JsonValue): JsonValue {
  if (value === null || typeof value !== 'object') return value;
  if (isJsonArray(value)) return value.map(withoutPrototypes);
  const copy = emptyObject();
  for (const key of sortedKeys(value)) copy[key] = withoutPrototypes(value[key] as JsonValue);
  return copy;
}

export function isAllowedKey(key: string): boolean {
  return !FORBIDDEN_KEYS.has(key);
}

/**
 * The canonical text of a value: keys sorted by UTF-16 unit, no blanks, numbers as JavaScript writes them. Equal values
 * have equal texts.
 */
export function canonicalJson(value: JsonValue): string {
  // JSON.stringify is several times as fast as a hand-written serializer, even if the value has to be copied first.
  if (isInOrder(value)) return JSON.stringify(value);
  const keys = new Set<string>();
  if (hasFewKeys(value, keys)) return JSON.stringify(value, [...keys].sort());
  const copy = withoutPrototypes(value);
  return isInOrder(copy) ? JSON.stringify(copy) : writeInOrder(value);
}

/**
 * JSON.stringify accepts a list of keys as an order, but looks up all of them in every object. With more keys than
 * this, a copy is faster.
 */
const FEW_KEYS = 16;

/** Whether the objects in a value have few different keys in total. Adds the keys to `keys`. */
function hasFewKeys(value: JsonValue, keys: Set<string>): boolean {
  if (value === null || typeof value !== 'object') return true;
  if (isJsonArray(value)) return value.every((element) => hasFewKeys(element, keys));
  // A `for…in` loop allocates no list of keys. This saves time in an import, which calls this function for many objects
  // before the engine has compiled it.
  for (const key in value) {
    keys.add(key);
    if (keys.size > FEW_KEYS || !hasFewKeys(value[key] as JsonValue, keys)) return false;
  }
  return true;
}

/**
 * JavaScript keeps keys in insertion order, except those that look like integers, which come first, in numeric order.
 */
function isInOrder(value: JsonValue): boolean {
  if (value === null || typeof value !== 'object') return true;
  if (isJsonArray(value)) return value.every(isInOrder);
  const keys = Object.keys(value);
  return isAscending(keys) && keys.every((key) => isInOrder(value[key] as JsonValue));
}

function writeInOrder(value: JsonValue): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (isJsonArray(value)) return `[${value.map(writeInOrder).join(',')}]`;
  const members = sortedKeys(value).map((key) => `${JSON.stringify(key)}:${writeInOrder(value[key] as JsonValue)}`);
  return `{${members.join(',')}}`;
}

export function jsonEquals(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true;
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return false;
  if (isJsonArray(a))
    return (
      isJsonArray(b) && a.length === b.length && a.every((element, index) => jsonEquals(element, b[index] as JsonValue))
    );
  if (isJsonArray(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && jsonEquals(a[key] as JsonValue, b[key] as JsonValue))
  );
}

/**
 * The indexes where two arrays of the same length have different values, by identity. A loop, because every edit of one
 * element of a large list visits all its elements.
 */
export function differingIndexes(before: readonly JsonValue[], after: readonly JsonValue[]): number[] {
  const indexes: number[] = [];
  for (let index = 0; index < after.length; index++) if (before[index] !== after[index]) indexes.push(index);
  return indexes;
}

/** `Array.isArray` does not narrow readonly arrays. */
export function isJsonArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function sortedKeys(object: JsonObject): string[] {
  const keys = Object.keys(object);
  return isAscending(keys) ? keys : keys.sort();
}

function isAscending(keys: readonly string[]): boolean {
  return keys.every((key, index) => index === 0 || (keys[index - 1] as string) < key);
}

export function emptyObject(): Record<string, JsonValue> {
  return Object.create(null) as Record<string, JsonValue>;
}

export function invalid(problem: string, fields: Readonly<Record<string, number>> = {}): RockpoolError {
  return new RockpoolError('document-invalid', { problem, ...fields });
}

/**
 * False for text with NUL, where SQLite's functions stop reading, or with a lone surrogate, which has no UTF-8 form.
 */
export function isJsonText(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed();
}

/** Returns the text. Throws `document-invalid` with the problem `text` if JSON text cannot contain it. */
export function expectText(text: string): string {
  if (!isJsonText(text)) throw invalid('text');
  return text;
}

function hasInexactInteger(text: string): boolean {
  for (const [token] of text.matchAll(STRING_OR_NUMBER)) {
    if (!token.startsWith('"') && INTEGER.test(token) && token !== '-0' && String(Number(token)) !== token) return true;
  }
  return false;
}
