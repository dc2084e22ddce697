import type { PathRule } from './document-rule.ts';
import {
  emptyObject,
  invalid,
  isAllowedKey,
  isJsonArray,
  isJsonObject,
  isJsonText,
  jsonEquals,
  sortedKeys,
  type JsonObject,
  type JsonValue,
} from './json.ts';

/*
 * A rich text as JSON: runs of characters with the same formats, as in a Delta. Each text has one canonical form:
 * neighbours differ in their formats, no run is empty, no format is null.
 */
export type Run = { readonly insert: string; readonly attributes?: Attributes };

/** The rich text in SQL. */
export type RichText = readonly Run[];

export type Attributes = Readonly<Record<string, AttributeValue>>;

export type AttributeValue = boolean | number | string;

/** Maximum length of a format's name, in UTF-16 units. Editors choose short words as names. */
const MAX_NAME_LENGTH = 64;

/** Maximum length of a format's value, in UTF-16 units. The longest values are URLs of links. */
export const MAX_FORMAT_LENGTH = 2048;

export function isFormatName(name: string): boolean {
  return name.length > 0 && name.length <= MAX_NAME_LENGTH && isAllowedKey(name) && isJsonText(name);
}

export function isFormatValue(value: unknown): value is AttributeValue {
  if (typeof value === 'string') return value.length <= MAX_FORMAT_LENGTH && isJsonText(value);
  return typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value));
}

/** The runs of a JSON value, in canonical form. Throws `document-invalid` with the problem `rich-text`. */
export function toRuns(value: JsonValue): readonly Run[] {
  if (!isJsonArray(value)) throw invalid('rich-text');
  return joinRuns(value.map(toRun));
}

function toRun(value: JsonValue): Run {
  if (!isJsonObject(value)) throw invalid('rich-text');
  const { insert, attributes = emptyObject(), ...rest } = value;
  if (typeof insert !== 'string' || !isJsonObject(attributes) || Object.keys(rest).length > 0)
    throw invalid('rich-text');
  return runOf(insert, toAttributes(attributes));
}

function toAttributes(value: JsonObject): Attributes {
  const attributes = emptyObject() as Record<string, AttributeValue>;
  for (const name of sortedKeys(value)) {
    const format = value[name] as JsonValue;
    if (!isFormatName(name) || (format !== null && !isFormatValue(format))) throw invalid('rich-text');
    if (format !== null) attributes[name] = format;
  }
  return attributes;
}

export const NO_ATTRIBUTES: Attributes = emptyObject() as Attributes;

export function runOf(insert: string, attributes: Attributes): Run {
  // Keys in canonical order, so that canonical JSON need not sort them.
  return Object.keys(attributes).length === 0 ? { insert } : { attributes, insert };
}

export function attributesOf({ attributes = NO_ATTRIBUTES }: Run): Attributes {
  return attributes;
}

/** Removes empty runs and joins neighbours with the same formats. */
export function joinRuns(runs: readonly Run[]): readonly Run[] {
  const joined: Run[] = [];
  for (const run of runs) {
    const last = joined.at(-1);
    if (run.insert === '') continue;
    if (last !== undefined && jsonEquals(attributesOf(last), attributesOf(run)))
      joined[joined.length - 1] = { ...last, insert: last.insert + run.insert };
    else joined.push(run);
  }
  return joined;
}

export function plainText(runs: readonly Run[]): string {
  return runs.map(({ insert }) => insert).join('');
}

/** Reads runs by length, from left to right. */
export class RunReader {
  private readonly runs: readonly Run[];
  private index = 0;
  /** The offset in the run at `index`. */
  private at = 0;

  constructor(runs: readonly Run[]) {
    this.runs = runs;
  }

  /** The next characters, or fewer at the end of the text. */
  take(length: number): Run[] {
    const taken: Run[] = [];
    for (let left = length; left > 0 && this.index < this.runs.length;) {
      const run = this.runs[this.index] as Run;
      const insert = run.insert.slice(this.at, this.at + left);
      taken.push({ ...run, insert });
      left -= insert.length;
      this.at += insert.length;
      if (this.at < run.insert.length) break;
      this.index++;
      this.at = 0;
    }
    return taken;
  }

  rest(): Run[] {
    return this.take(Infinity);
  }
}

/** Arrays known to be runs in canonical form: every edit of a large document checks most of them again. */
const canonical = new WeakSet<readonly JsonValue[]>();

/**
 * The value with its rich texts in canonical form; the identical value if they already are. Throws `document-invalid`
 * with the problem `rich-text`.
 */
export function canonicalRichTexts(value: JsonValue, rule: PathRule): JsonValue {
  if (rule.isRichText) return value === null ? null : canonicalRuns(value);
  if (!rule.hasRichText || value === null || typeof value !== 'object') return value;
  if (isJsonArray(value)) {
    const elements = value.map((element) => canonicalRichTexts(element, rule.element()));
    return elements.every((element, index) => element === value[index]) ? value : elements;
  }
  const members = emptyObject();
  for (const key of Object.keys(value)) members[key] = canonicalRichTexts(value[key] as JsonValue, rule.member(key));
  return Object.keys(value).every((key) => members[key] === value[key]) ? value : members;
}

function canonicalRuns(value: JsonValue): JsonValue {
  if (isJsonArray(value) && canonical.has(value)) return value;
  const runs: JsonValue = toRuns(value);
  const same = jsonEquals(runs, value) ? value : runs;
  canonical.add(same as readonly JsonValue[]);
  return same;
}
