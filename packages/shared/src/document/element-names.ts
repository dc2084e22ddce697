import type { PathStep } from './document-path.ts';
import { differingIndexes, isJsonObject, type JsonValue } from './json.ts';

interface NamesByKey {
  readonly elementKey: string;
  readonly names: string[] | null;
}

/** Values never change, so the names of an array stay what they are. */
const known = new WeakMap<readonly JsonValue[], NamesByKey>();

/**
 * The names of an array's elements, in order, when all are objects that their `elementKey` tells apart; null when they
 * are not. `before`: an array that this one was made of; where none of the names differ, the very same ones are given.
 */
export function elementNames(
  array: readonly JsonValue[],
  elementKey: string,
  before?: readonly JsonValue[],
): readonly string[] | null {
  const found = known.get(array);
  if (found?.elementKey === elementKey) return found.names;
  const names = namesAsBefore(array, elementKey, before) ?? namesOf(array, elementKey);
  known.set(array, { elementKey, names });
  return names;
}

function namesAsBefore(
  array: readonly JsonValue[],
  elementKey: string,
  before: readonly JsonValue[] | undefined,
): string[] | null {
  const found = before === undefined ? undefined : known.get(before);
  if (before?.length !== array.length || found?.elementKey !== elementKey || found.names === null) return null;
  const { names } = found;
  return differingIndexes(before, array).every(
    (index) => elementName(array[index] as JsonValue, elementKey) === names[index],
  )
    ? names
    : null;
}

function namesOf(array: readonly JsonValue[], elementKey: string): string[] | null {
  const names = new Set<string>();
  for (const element of array) {
    const name = elementName(element, elementKey);
    if (name === null || names.has(name)) return null;
    names.add(name);
  }
  return [...names];
}

/** The name of one element; null for what has none. */
export function elementName(element: JsonValue, elementKey: string): string | null {
  if (!isJsonObject(element)) return null;
  const key = element[elementKey];
  if (typeof key === 'string') return `s${key}`;
  return typeof key === 'number' && Number.isSafeInteger(key) ? `n${String(key)}` : null;
}

/** The step of a path to the element of a name. */
export function elementStep(name: string, elementKey: string): PathStep {
  return { [elementKey]: name.startsWith('n') ? Number(name.slice(1)) : name.slice(1) };
}
