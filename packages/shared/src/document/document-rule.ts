/** How concurrent changes of the JSON in one column merge. */
export interface DocumentRule {
  /**
   * Paths of the texts that are merged by character; other strings are replaced as a whole. Dots separate steps, and
   * `*` stands for any key or element: `body`, `items.*.note`. The empty path is the document itself.
   */
  readonly text: readonly string[];
  /**
   * Paths of the rich texts, in the same notation: runs as in a Delta, `[{"insert":"low
   * "},{"attributes":{"bold":true},"insert":"tide"}]`, or null. Concurrent typing and formatting are both kept. No
   * other value is allowed there. Default: none.
   */
  readonly richText?: readonly string[];
  /** The field that identifies the objects of an array. Default `id`. */
  readonly elementKey: string;
  /** Maximum length of the column's text, in UTF-16 units. Default 1 Mi. */
  readonly maxLength: number;
  /** Maximum nesting of arrays and objects. Default 32. */
  readonly maxDepth: number;
  /**
   * How a device stores the column. `text`: as JSON text. `binary`: as SQLite's JSONB, from which `json_extract`,
   * `->>`, WHERE and ORDER BY read a value without parsing the document, while reading or writing a whole document
   * takes longer. SQL and every API see the same text either way. It has no effect on merging, so devices may differ.
   * Default `text`.
   */
  readonly storage?: DocumentStorage;
}

export type DocumentStorage = 'text' | 'binary';

export const DEFAULT_DOCUMENT_RULE: DocumentRule = { text: [], elementKey: 'id', maxLength: 1024 * 1024, maxDepth: 32 };

/** Upper limit for `maxDepth`: the server stops reading there whatever the schema says. */
export const MAX_DOCUMENT_DEPTH = 64;

/** Upper limit for `maxLength`: such a document, with its history, still fits into one value (protocol/limits.ts). */
export const MAX_DOCUMENT_LENGTH: number = 2 * 1024 * 1024;

/** Nesting of a rich text: an array of objects that contain an object. */
export const RICH_TEXT_DEPTH = 3;

/** The steps of a path in a rule. */
export function pathSteps(path: string): readonly string[] {
  return path === '' ? [] : path.split('.');
}

interface Pattern {
  readonly steps: readonly string[];
  readonly isRich: boolean;
}

/** A position in a document, with the part of the rule that applies there and below. */
export class PathRule {
  readonly elementKey: string;
  private readonly patterns: readonly Pattern[];

  private constructor(elementKey: string, patterns: readonly Pattern[]) {
    this.elementKey = elementKey;
    this.patterns = patterns;
  }

  static root({ text, richText = [], elementKey }: Pick<DocumentRule, 'text' | 'richText' | 'elementKey'>): PathRule {
    const patternsOf = (paths: readonly string[], isRich: boolean): Pattern[] =>
      paths.map((path) => ({ steps: pathSteps(path), isRich }));
    return new PathRule(elementKey, [...patternsOf(text, false), ...patternsOf(richText, true)]);
  }

  /** Whether strings at this position are merged by character. */
  get isText(): boolean {
    return this.patterns.some(({ steps, isRich }) => !isRich && steps.length === 0);
  }

  /** Whether the value at this position is a rich text. */
  get isRichText(): boolean {
    return this.patterns.some(({ steps, isRich }) => isRich && steps.length === 0);
  }

  /** Whether a rich text is possible here or below. */
  get hasRichText(): boolean {
    return this.patterns.some(({ isRich }) => isRich);
  }

  member(key: string): PathRule {
    return this.step((step) => step === key || step === '*');
  }

  element(): PathRule {
    return this.step((step) => step === '*');
  }

  private step(matches: (step: string) => boolean): PathRule {
    if (this.patterns.length === 0) return this;
    const rest = this.patterns
      .filter(({ steps }) => steps.length > 0 && matches(steps[0] as string))
      .map(({ steps, isRich }) => ({ steps: steps.slice(1), isRich }));
    return new PathRule(this.elementKey, rest);
  }
}
