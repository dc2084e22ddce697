import type { PathStep } from './document-path.ts';
import { differingIndexes, isJsonObject, type JsonValue } from './json.ts';

interface NamesByKey {
  readonly elementKey: string;
  readonly names: string[] | null;
}

/** The names of the elements of an array, by its identity: values are immutable, so the names do not change. */
const known = new WeakMap<readonly JsonValue[], NamesByKey>();

/**
 * The names of the elements of an array, in order, if all are objects that their `elementKey` identifies; otherwise
 * null. `before` is an array from which this one was created; if no name differs, returns that array's list of names.
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

/** The name of one element; null for an element without one. */
export function elementName(element: JsonValue, elementKey: string): string | null {
  if (!isJsonObject(element)) return null;
  const key = element[elementKey];
  if (typeof key === 'string') return `s${key}`;
  return typeof key === 'number' && Number.isSafeInteger(key) ? `n${String(key)}` : null;
}

/** The path step to the element with a name. */
export function elementStep(name: string, elementKey: string): PathStep {
  return { [elementKey]: name.startsWith('n') ? Number(name.slice(1)) : name.slice(1) };
}
