import { RockpoolError } from '@rockpool/shared';
import type { Text } from 'yjs';

/** The texts that are already guarded. */
const guarded = new WeakSet<Text>();

/**
 * Guards a text against operations that split a character. Yjs replaces both halves of a surrogate pair with
 * replacement characters as soon as an operation starts or ends between them, and the character is lost. `insert`,
 * `delete`, `format` and `applyDelta` throw `document-invalid` with the problem `text` instead and change nothing.
 */
export function withWholeCharacters(text: Text): Text {
  if (guarded.has(text)) return text;
  guarded.add(text);
  const { insert, delete: remove, format, applyDelta } = text;
  const expectWhole = (...places: readonly number[]): void => {
    const characters = text.toJSON();
    if (places.some((place) => isBetweenHalves(characters, place)))
      throw new RockpoolError('document-invalid', { problem: 'text' });
  };
  return Object.assign(text, {
    insert(at: number, ...rest: [string, object?]): void {
      expectWhole(at);
      insert.call(text, at, ...rest);
    },
    delete(at: number, length: number): void {
      expectWhole(at, at + length);
      remove.call(text, at, length);
    },
    format(at: number, length: number, formats: object): void {
      expectWhole(at, at + length);
      format.call(text, at, length, formats);
    },
    applyDelta(delta: DeltaStep[], options?: { sanitize?: boolean }): void {
      expectWhole(...placesOf(delta));
      applyDelta.call(text, delta, options);
    },
  });
}

interface DeltaStep {
  readonly retain?: number;
  readonly delete?: number;
}

/** The positions where the steps of a delta start and end, in the text before the delta. */
function placesOf(delta: readonly DeltaStep[]): number[] {
  let at = 0;
  return delta.map((step) => (at += step.retain ?? step.delete ?? 0));
}

/** `place` counts UTF-16 units. */
function isBetweenHalves(text: string, place: number): boolean {
  return isBetween(text.charCodeAt(place - 1), 0xd800, 0xdbff) && isBetween(text.charCodeAt(place), 0xdc00, 0xdfff);
}

function isBetween(unit: number, from: number, to: number): boolean {
  return unit >= from && unit <= to;
}
