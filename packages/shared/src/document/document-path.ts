import { isJsonArray, isJsonObject, type JsonValue } from './json.ts';

/** The name of a member, the index of an element, or the key of an element that has one: `{ id: 'x' }`. */
export type PathStep = string | number | { readonly [elementKey: string]: string | number };

/** The steps from the document down. Empty: the document itself. */
export type DocumentPath = readonly PathStep[];

/** The value at the path; undefined if there is no value. */
export function valueAt(value: JsonValue | undefined, [step, ...rest]: DocumentPath): JsonValue | undefined {
  if (step === undefined || value === undefined) return value;
  if (typeof step === 'string')
    return isJsonObject(value) && Object.hasOwn(value, step) ? valueAt(value[step], rest) : undefined;
  if (!isJsonArray(value)) return undefined;
  return valueAt(value[typeof step === 'number' ? step : indexOf(value, step)], rest);
}

/**
 * Returns the value with `inner` at the path; undefined if a step of the path no longer exists. An element whose key no
 * longer exists is appended.
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

/**
 * The value without the part at the path: the same value if it has no such part, undefined if the path is that of the
 * whole document.
 */
export function withoutValueAt(value: JsonValue, path: DocumentPath): JsonValue | undefined {
  const [step, ...rest] = path;
  if (step === undefined) return undefined;
  if (rest.length > 0) {
    const inner = valueAt(value, [step]);
    const without = inner === undefined ? undefined : withoutValueAt(inner, rest);
    return without === undefined ? value : (withValueAt(value, [step], without) ?? value);
  }
  if (typeof step === 'string') {
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).filter(([name]) => name !== step));
  }
  if (!isJsonArray(value)) return value;
  const index = typeof step === 'number' ? step : indexOf(value, step);
  return value.filter((_, at) => at !== index);
}

function indexOf(array: readonly JsonValue[], step: Readonly<Record<string, string | number>>): number {
  const [[key, id] = []] = Object.entries(step);
  return array.findIndex((element) => key !== undefined && isJsonObject(element) && element[key] === id);
}
