import { diffSequences, diffText } from '@rockpool/shared';
import type { DocumentOperation } from '../interface/row-history.ts';

/** A JSON value, as returned by JSON.parse. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/**
 * The operations of a JSON Patch (RFC 6902) that turn one value into the other, in the order in which they apply.
 * Unchanged values are omitted. A text that changed is one `replace`, with its ranges by character.
 */
export function diffDocuments(from: Json, to: Json): DocumentOperation[] {
  return diffAt('', from, to);
}

function diffAt(path: string, from: Json, to: Json): DocumentOperation[] {
  if (isArray(from) && isArray(to)) return diffArrays(path, from, to);
  if (isObject(from) && isObject(to)) return diffObjects(path, from, to);
  if (from === to) return [];
  const replace = { op: 'replace', path, value: to, oldValue: from } as const;
  return [typeof from === 'string' && typeof to === 'string' ? { ...replace, text: diffText(from, to) } : replace];
}

function diffObjects(
  path: string,
  from: { readonly [key: string]: Json },
  to: { readonly [key: string]: Json },
): DocumentOperation[] {
  const removed = Object.keys(from).filter((key) => !Object.hasOwn(to, key));
  return [
    ...removed.map((key) => ({ op: 'remove', path: pointer(path, key), oldValue: from[key] as Json }) as const),
    ...Object.keys(to).flatMap((key): DocumentOperation[] =>
      Object.hasOwn(from, key)
        ? diffAt(pointer(path, key), from[key] as Json, to[key] as Json)
        : [{ op: 'add', path: pointer(path, key), value: to[key] as Json }],
    ),
  ];
}

/** Diffs from right to left, so that no operation shifts the positions of the next ones. */
function diffArrays(path: string, from: readonly Json[], to: readonly Json[]): DocumentOperation[] {
  const fromTexts = from.map((value) => JSON.stringify(value));
  const toTexts = to.map((value) => JSON.stringify(value));
  const splices = diffSequences(from.length, to.length, (i, j) => fromTexts[i] === toTexts[j]);
  return splices.reverse().flatMap((splice): DocumentOperation[] => {
    const added = splice.to - splice.from;
    const pairs = Math.min(splice.remove, added);
    const operations: DocumentOperation[] = [];
    for (let at = splice.remove - 1; at >= pairs; at--)
      operations.push({ op: 'remove', path: pointer(path, splice.at + at), oldValue: from[splice.at + at] as Json });
    for (let at = 0; at < added; at++) {
      const place = pointer(path, splice.at + at);
      const value = to[splice.from + at] as Json;
      if (at < pairs) operations.push(...diffAt(place, from[splice.at + at] as Json, value));
      else operations.push({ op: 'add', path: place, value });
    }
    return operations;
  });
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function isObject(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !isArray(value);
}

/** A JSON Pointer (RFC 6901). */
function pointer(path: string, step: string | number): string {
  return `${path}/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
