import { isJsonObject, type JsonValue } from './json.ts';

/** The names of an array's elements, in order, when all are objects that their `elementKey` tells apart; null when they are not. */
export function elementNames(array: readonly JsonValue[], elementKey: string): string[] | null {
  const names = new Set<string>();
  for (const element of array) {
    const name = elementName(element, elementKey);
    if (name === null || names.has(name)) return null;
    names.add(name);
  }
  return [...names];
}

function elementName(element: JsonValue, elementKey: string): string | null {
  if (!isJsonObject(element)) return null;
  const key = element[elementKey];
  if (typeof key === 'string') return `s${key}`;
  return typeof key === 'number' && Number.isSafeInteger(key) ? `n${String(key)}` : null;
}
