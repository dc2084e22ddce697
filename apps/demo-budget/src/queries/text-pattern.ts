/** SQLite limits a GLOB pattern to 50,000 bytes, and a letter in all its cases takes several. */
const mostLetters = 1_000;

/**
 * The GLOB pattern of texts that contain this text, whatever the case of its letters. SQLite's `lower` converts only
 * ASCII, so each letter becomes a set of its cases, such as `[üÜ]`.
 */
export function containing(text: string): string {
  return `*${Array.from(text).slice(0, mostLetters).map(inAnyCase).join('')}*`;
}

function inAnyCase(letter: string): string {
  const upper = letter.toUpperCase();
  // `ς` has the same upper case as `σ`. The upper case of `ß` has two letters, which a set cannot have.
  const cases = new Set([letter, letter.toLowerCase(), upper, upper.toLowerCase()].filter(isOneLetter));
  return cases.size > 1 || '*?['.includes(letter) ? `[${[...cases].join('')}]` : letter;
}

function isOneLetter(text: string): boolean {
  return Array.from(text).length === 1;
}
