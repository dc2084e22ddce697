/** A fault put into one module as it is loaded: the text that stands there once, and what stands there instead. */
export interface SeededBug {
  readonly name: string;
  /** From the repository's root. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}
