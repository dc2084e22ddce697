import { emptyObject, jsonEquals } from './json.ts';
import { attributesOf, plainText, RunReader, type AttributeValue, type Run } from './rich-text.ts';
import { diffText } from './text-diff.ts';

/** Formats by name; null if there is no format of this name. */
export type Formats = Readonly<Record<string, AttributeValue | null>>;

/** Replaces runs at the unit `at` of the old text. */
export interface Replacement {
  readonly at: number;
  readonly removed: readonly Run[];
  readonly inserted: readonly Run[];
}

/** Changes the formats of characters that stay. `from` and `to` have the formats that differ. */
export interface Reformat {
  readonly at: number;
  readonly length: number;
  readonly from: Formats;
  readonly to: Formats;
}

/**
 * The splices that turn one rich text into another, from left to right. A character that stays keeps its position,
 * whatever its formats become.
 */
export function diffRichText(before: readonly Run[], after: readonly Run[]): (Replacement | Reformat)[] {
  const steps: (Replacement | Reformat)[] = [];
  const [oldRuns, newRuns] = [new RunReader(before), new RunReader(after)];
  const text = plainText(before);
  let at = 0;
  for (const { at: changedAt, removed, inserted } of diffText(text, plainText(after))) {
    steps.push(...reformats(at, oldRuns.take(changedAt - at), newRuns.take(changedAt - at)));
    steps.push({ at: changedAt, removed: oldRuns.take(removed.length), inserted: newRuns.take(inserted.length) });
    at = changedAt + removed.length;
  }
  steps.push(...reformats(at, oldRuns.rest(), newRuns.rest()));
  return steps;
}

/** The changes of formats in a stretch of equal characters. */
function reformats(start: number, before: readonly Run[], after: readonly Run[]): Reformat[] {
  const found: Reformat[] = [];
  const newRuns = new RunReader(after);
  let at = start;
  for (const old of before) {
    for (const run of newRuns.take(old.insert.length)) {
      const step = { at, length: run.insert.length, ...differingFormats(old, run) };
      const last = found.at(-1);
      if (
        last !== undefined &&
        last.at + last.length === at &&
        jsonEquals(last.from, step.from) &&
        jsonEquals(last.to, step.to)
      )
        found[found.length - 1] = { ...last, length: last.length + step.length };
      else if (Object.keys(step.to).length > 0) found.push(step);
      at += step.length;
    }
  }
  return found;
}

function differingFormats(before: Run, after: Run): { readonly from: Formats; readonly to: Formats } {
  const [oldFormats, newFormats] = [attributesOf(before), attributesOf(after)];
  const [from, to] = [emptyObject(), emptyObject()] as Record<string, AttributeValue | null>[] as [
    Record<string, AttributeValue | null>,
    Record<string, AttributeValue | null>,
  ];
  for (const name of [...new Set([...Object.keys(oldFormats), ...Object.keys(newFormats)])].sort()) {
    const [old, format] = [oldFormats[name] ?? null, newFormats[name] ?? null];
    if (jsonEquals(old, format)) continue;
    from[name] = old;
    to[name] = format;
  }
  return { from, to };
}
