/** A fault that is put into one module when it is loaded: a text that occurs once, and its replacement. */
export interface Edit {
  /** Relative to the repository's root. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

export interface SeededBug extends Edit {
  readonly name: string;
  /** Safeguards that would hide the fault, and are therefore disabled too. */
  readonly without?: readonly Edit[];
  /** The histories in which the fault can show. Default: all. */
  readonly needs?: 'several instances' | 'history' | 'older apps' | 'an operator' | 'withdrawals';
}

export function editsOf({ file, find, replace, without = [] }: SeededBug): readonly Edit[] {
  return [{ file, find, replace }, ...without];
}

/**
 * Returns the source with the edit applied. Ignores white space in `find`, and a comma before a closing bracket, so
 * that the formatter may break the line. Throws unless the text occurs exactly once.
 */
export function withEdit(source: string, { file, find, replace }: Edit): string {
  const code = withoutSpace(source);
  const wanted = withoutSpace(find).text;
  const start = code.text.indexOf(wanted);
  if (start < 0) throw new Error(`${file} lacks this code: ${find}`);
  if (code.text.includes(wanted, start + 1)) throw new Error(`${file} has this code more than once: ${find}`);
  const from = code.offsets[start] as number;
  const to = (code.offsets[start + wanted.length - 1] as number) + 1;
  return source.slice(0, from) + replace + source.slice(to);
}

/** The text without white space and trailing commas, and the offset in `source` of each character that is left. */
function withoutSpace(source: string): { readonly text: string; readonly offsets: readonly number[] } {
  const offsets: number[] = [];
  for (let at = 0; at < source.length; at++) {
    if (/\s/.test(source[at] as string)) continue;
    if (source[at] === ',' && /^,\s*[)\]}]/.test(source.slice(at, at + 200))) continue;
    offsets.push(at);
  }
  return { text: offsets.map((at) => source[at]).join(''), offsets };
}
