/** How the JSON of one column comes together when several people change it at the same time. */
export interface DocumentRule {
  /**
   * Paths of the texts that are merged by character; all others are replaced as a whole. Steps are separated by dots,
   * and `*` stands for any key or any element: `body`, `items.*.note`. The empty path is the document itself.
   */
  readonly text: readonly string[];
  /**
   * Paths, written likewise, of the texts with formats: runs as in a Delta, `[{"insert":"low
   * "},{"attributes":{"bold":true},"insert":"tide"}]`, or null. What two people type and format at the same time stands
   * beside each other. Nothing else may be there. Default none.
   */
  readonly richText?: readonly string[];
  /** The field that tells the objects of an array apart. Default `id`. */
  readonly elementKey: string;
  /** Of the column's text, in UTF-16 units. Default 1 Mi. */
  readonly maxLength: number;
  /** Arrays and objects inside each other. Default 32. */
  readonly maxDepth: number;
}

export const DEFAULT_DOCUMENT_RULE: DocumentRule = { text: [], elementKey: 'id', maxLength: 1024 * 1024, maxDepth: 32 };

/** No rule may allow more: the server stops reading there whatever the schema says. */
export const MAX_DOCUMENT_DEPTH = 64;

/** The largest document, in UTF-16 units: with its history it still fits into one value (protocol/limits.ts). */
export const MAX_DOCUMENT_LENGTH: number = 2 * 1024 * 1024;

/** A rich text is an array of objects that have an object. */
export const RICH_TEXT_DEPTH = 3;

/** The steps of a path as a rule writes it. */
export function pathSteps(path: string): readonly string[] {
  return path === '' ? [] : path.split('.');
}

interface Pattern {
  readonly steps: readonly string[];
  readonly isRich: boolean;
}

/** Where in a document one is, as far as the rule cares. */
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

  /** True where a string is merged by character. */
  get isText(): boolean {
    return this.patterns.some(({ steps, isRich }) => !isRich && steps.length === 0);
  }

  /** True where a text with formats stands. */
  get isRichText(): boolean {
    return this.patterns.some(({ steps, isRich }) => isRich && steps.length === 0);
  }

  /** Whether there may be a text with formats here or further down. */
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
