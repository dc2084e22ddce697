import { diffSequences } from './sequence-diff.ts';

/** `removed`, at the unit `at` of the old text, gives way to `inserted`. */
export interface TextChange {
  readonly at: number;
  readonly removed: string;
  readonly inserted: string;
}

/** What turns one text into the other, from left to right, by code point: no pair of surrogates is cut. */
export function diffText(before: string, after: string): TextChange[] {
  // What is equal at both ends costs a comparison and not a list of characters.
  const start = commonStart(before, after);
  const end = commonEnd(before, after, Math.min(before.length, after.length) - start);
  const olds = Array.from(before.slice(start, before.length - end));
  const news = Array.from(after.slice(start, after.length - end));
  let unit = start;
  let character = 0;
  return diffSequences(olds.length, news.length, (i, j) => olds[i] === news[j]).map(({ at, remove, from, to }): TextChange => {
    for (; character < at; character++) unit += (olds[character] as string).length;
    return { at: unit, removed: olds.slice(at, at + remove).join(''), inserted: news.slice(from, to).join('') };
  });
}

function commonStart(before: string, after: string): number {
  const length = Math.min(before.length, after.length);
  let start = 0;
  while (start < length && before.charCodeAt(start) === after.charCodeAt(start)) start++;
  return start > 0 && isHighSurrogate(before.charCodeAt(start - 1)) ? start - 1 : start;
}

function commonEnd(before: string, after: string, most: number): number {
  let end = 0;
  while (end < most && before.charCodeAt(before.length - 1 - end) === after.charCodeAt(after.length - 1 - end)) end++;
  return end > 0 && isLowSurrogate(before.charCodeAt(before.length - end)) ? end - 1 : end;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}
