import { emptyObject } from './json.ts';
import {
  attributesOf,
  joinRuns,
  plainText,
  runOf,
  RunReader,
  type Attributes,
  type AttributeValue,
  type Run,
} from './rich-text.ts';
import { diffRichText, type Formats } from './rich-text-diff.ts';
import { firstCharacters, lastCharacters, placeOf, wholePlace } from './text-place.ts';

/**
 * The difference between two rich texts, one splice per place, from left to right: a part of a JsonChange
 * (json-change.ts).
 */
export type RichTextSplice = RunSplice | FormatSplice;

/** Replaces runs. `at` counts in the old text; `context`: a few unchanged characters before. */
interface RunSplice {
  readonly at: number;
  readonly context: string;
  readonly removed: readonly Run[];
  readonly inserted: readonly Run[];
}

/**
 * Formats characters that stay. Of these, it stores only the first and the last few, which identify both ends again:
 * text that others have inserted in between gets the formats too.
 */
interface FormatSplice {
  readonly at: number;
  readonly context: string;
  readonly length: number;
  readonly first: string;
  readonly last: string;
  readonly from: Formats;
  readonly to: Formats;
}

export function diffRuns(before: readonly Run[], after: readonly Run[]): RichTextSplice[] {
  const text = plainText(before);
  // The end of the last removed characters.
  let end = 0;
  return diffRichText(before, after).map((step): RichTextSplice => {
    const context = lastCharacters(text.slice(end, step.at));
    if ('removed' in step) {
      end = step.at + plainText(step.removed).length;
      return { ...step, context };
    }
    const middle = step.at + Math.ceil(step.length / 2);
    return {
      ...step,
      context,
      first: firstCharacters(text.slice(step.at, middle)),
      last: lastCharacters(text.slice(middle, step.at + step.length)),
    };
  });
}

export function invertRichTextChange(splices: readonly RichTextSplice[]): RichTextSplice[] {
  let shift = 0;
  return splices.map((splice): RichTextSplice => {
    const at = splice.at + shift;
    if ('length' in splice) return { ...splice, at, from: splice.to, to: splice.from };
    shift += plainText(splice.inserted).length - plainText(splice.removed).length;
    return { ...splice, at, removed: splice.inserted, inserted: splice.removed };
  });
}

/**
 * Applies a change to a text that may have changed since. Removes only characters that the author of the change had
 * seen.
 */
export function applyRichTextChange(value: readonly Run[], splices: readonly RichTextSplice[]): readonly Run[] {
  let runs = value;
  let shift = 0;
  for (const splice of splices) {
    const made =
      'length' in splice ? reformat(runs, splice, splice.at + shift) : replace(runs, splice, splice.at + shift);
    runs = made.runs;
    shift += made.moved;
  }
  return joinRuns(runs);
}

interface Made {
  readonly runs: readonly Run[];
  /** How far the following text has moved to the right. */
  readonly moved: number;
}

function replace(runs: readonly Run[], { context, removed, inserted }: RunSplice, at: number): Made {
  const text = plainText(runs);
  const [start, goneLength] = placeOf(text, at, context, plainText(removed));
  const reader = new RunReader(runs);
  const before = reader.take(start);
  reader.take(goneLength);
  return {
    runs: [...before, ...inserted, ...reader.rest()],
    moved: start - at + plainText(inserted).length - goneLength,
  };
}

function reformat(runs: readonly Run[], { context, length, first, last, to }: FormatSplice, at: number): Made {
  const text = plainText(runs);
  const [start] = placeOf(text, at, context, first);
  const [lastStart, lastLength] = placeOf(text, start + length - last.length, '', last);
  const end =
    lastLength > 0 && lastStart + lastLength > start ? lastStart + lastLength : wholePlace(text, start + length);
  const reader = new RunReader(runs);
  const before = reader.take(start);
  const inside = reader.take(end - start);
  return {
    runs: [...before, ...inside.map((run) => runOf(run.insert, withFormats(attributesOf(run), to))), ...reader.rest()],
    moved: end - at - length,
  };
}

function withFormats(attributes: Attributes, formats: Formats): Attributes {
  const changed = Object.assign(emptyObject() as Record<string, AttributeValue>, attributes);
  for (const [name, value] of Object.entries(formats)) {
    if (value === null) delete changed[name];
    else changed[name] = value;
  }
  return changed;
}
