import * as Y from 'yjs';
import { MAX_DOCUMENT_LENGTH } from './document-rule.ts';
import { emptyObject, expectText, invalid } from './json.ts';
import {
  attributesOf,
  joinRuns,
  NO_ATTRIBUTES,
  runOf,
  type Attributes,
  type AttributeValue,
  type Run,
} from './rich-text.ts';
import { diffRichText } from './rich-text-diff.ts';

/**
 * The attribute that marks a Y.Text as a rich text, so that the state of a document shows that its JSON consists of
 * runs instead of a string. Internal keys begin with NUL.
 */
export const RICH = '\u0000rich';

export function isRichText(node: unknown): node is Y.Text {
  return node instanceof Y.Text && node._map.has(RICH);
}

/** Creates a text that is not part of a document yet. */
export function createRichText(runs: readonly Run[]): Y.Text {
  const text = new Y.Text();
  text.setAttribute(RICH, true);
  text.applyDelta(runs.map(toInsertion));
  return text;
}

/**
 * Reads a rich text; `isThere` selects its items. Throws `document-invalid` for anything but a text, and for far more
 * content than a document may hold: a few bytes of an update can give every character a thousand formats.
 */
export function readRichText(
  text: Y.Text,
  isThere: (item: Y.Item) => boolean = ({ deleted }) => !deleted,
): readonly Run[] {
  const runs: Run[] = [];
  const formats = new CurrentFormats();
  for (let item = text._start; item !== null; item = item.right) {
    const { content } = item;
    if (!isThere(item)) continue;
    if (content instanceof Y.ContentFormat) formats.set(content.key, content.value as unknown as AttributeValue | null);
    // Deleting half of a surrogate pair leaves the other half: two users may each delete one.
    else if (content instanceof Y.ContentString)
      runs.push(runOf(expectText(content.str.toWellFormed()), formats.attributes()));
    else throw invalid('structure');
  }
  return joinRuns(runs);
}

/** The formats of the characters that follow. */
class CurrentFormats {
  private readonly formats = new Map<string, AttributeValue>();
  private known: Attributes | null = NO_ATTRIBUTES;
  /** The length of the formats as JSON, in UTF-16 units. `givenLength` is its sum over all runs so far. */
  private length = 0;
  private givenLength = 0;

  set(name: string, value: AttributeValue | null): void {
    const old = this.formats.get(name);
    if (old !== undefined) this.length -= lengthOf(name, old);
    if (value === null) this.formats.delete(name);
    else {
      this.formats.set(name, value);
      this.length += lengthOf(name, value);
    }
    this.known = null;
  }

  attributes(): Attributes {
    if (this.known !== null) return this.known;
    this.givenLength += this.length;
    // Formats without effect can cut a text of valid length into more runs than it has characters.
    if (this.givenLength > 2 * MAX_DOCUMENT_LENGTH) throw invalid('size', { limit: MAX_DOCUMENT_LENGTH });
    const attributes = emptyObject() as Record<string, AttributeValue>;
    for (const name of [...this.formats.keys()].sort()) attributes[name] = this.formats.get(name) as AttributeValue;
    this.known = attributes;
    return attributes;
  }
}

function lengthOf(name: string, value: AttributeValue): number {
  return name.length + String(value).length;
}

/** Makes a text equal to the runs, with as few operations as possible. */
export function writeRichText(text: Y.Text, runs: readonly Run[]): void {
  const delta: object[] = [];
  let at = 0;
  for (const step of diffRichText(readRichText(text), runs)) {
    if (step.at > at) delta.push({ retain: step.at - at });
    const length = 'length' in step ? step.length : step.removed.reduce((sum, { insert }) => sum + insert.length, 0);
    if ('length' in step) delta.push({ retain: length, attributes: { ...step.to } });
    else if (length > 0) delta.push({ delete: length });
    if ('inserted' in step) delta.push(...step.inserted.map(toInsertion));
    at = step.at + length;
  }
  if (delta.length > 0) text.applyDelta(delta);
}

/**
 * Copies the formats: Yjs writes into the object that it receives and keeps its order, and equal texts must have equal
 * operations everywhere.
 */
function toInsertion(run: Run): { readonly insert: string; readonly attributes: object } {
  const names = Object.keys(attributesOf(run)).sort();
  return { insert: run.insert, attributes: Object.fromEntries(names.map((name) => [name, attributesOf(run)[name]])) };
}
