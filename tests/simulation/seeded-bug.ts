/** A fault put into one module as it is loaded: the text that stands there once, and what stands there instead. */
export interface Edit {
  /** From the repository's root. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

export interface SeededBug extends Edit {
  readonly name: string;
  /** The safeguards that would hide it: they are off as well. */
  readonly without?: readonly Edit[];
}

export function editsOf({ file, find, replace, without = [] }: SeededBug): readonly Edit[] {
  return [{ file, find, replace }, ...without];
}
