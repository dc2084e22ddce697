import { isJsonArray, isJsonObject, type JsonValue } from './json.ts';

/** The name of a member, the index of an element, or the key of an element that has one: `{ id: 'x' }`. */
export type PathStep = string | number | { readonly [elementKey: string]: string | number };

/** From the document down. Empty: the document itself. */
export type DocumentPath = readonly PathStep[];

/** The value at the path; undefined where there is none. */
export function valueAt(value: JsonValue | undefined, [step, ...rest]: DocumentPath): JsonValue | undefined {
  if (step === undefined || value === undefined) return value;
  if (typeof step === 'string')
    return isJsonObject(value) && Object.hasOwn(value, step) ? valueAt(value[step], rest) : undefined;
  if (!isJsonArray(value)) return undefined;
  return valueAt(value[typeof step === 'number' ? step : indexOf(value, step)], rest);
}

/**
 * The same value with another one at the path; undefined where a step of the path no longer exists. An element with a
 * key that no longer exists is added as the last one.
 */
export function withValueAt(
  value: JsonValue | undefined,
  [step, ...rest]: DocumentPath,
  inner: JsonValue,
): JsonValue | undefined {
  if (step === undefined) return inner;
  if (value === undefined) return undefined;
  if (typeof step === 'string') {
    if (!isJsonObject(value)) return undefined;
    const member = withValueAt(Object.hasOwn(value, step) ? value[step] : undefined, rest, inner);
    return member === undefined ? undefined : { ...value, [step]: member };
  }
  if (!isJsonArray(value)) return undefined;
  const index = typeof step === 'number' ? step : indexOf(value, step);
  if (index === -1 && rest.length === 0) return [...value, inner];
  const element = withValueAt(value[index], rest, inner);
  return element === undefined || index >= value.length ? undefined : value.with(index, element);
}

function indexOf(array: readonly JsonValue[], step: Readonly<Record<string, string | number>>): number {
  const [[key, id] = []] = Object.entries(step);
  return array.findIndex((element) => key !== undefined && isJsonObject(element) && element[key] === id);
}
