/**
 * Splits SQL into words, names and operators, without comments and white space. Names are unquoted and in lower case;
 * strings are unchanged.
 */
export function sqlTokens(sql: string): string[] {
  return locatedTokens(sql).map(({ token }) => token);
}

/** A token as `sqlTokens` returns it, and where it is in the SQL. */
export interface LocatedToken {
  readonly token: string;
  readonly start: number;
  readonly end: number;
}

export function locatedTokens(sql: string): LocatedToken[] {
  return [...sql.matchAll(TOKEN)].flatMap(({ 0: text, index }) =>
    isSpace(text)
      ? []
      : [
          {
            token: isQuotedName(text) ? unquoted(text) : text.startsWith("'") ? text : text.toLowerCase(),
            start: index,
            end: index + text.length,
          },
        ],
  );
}

/** Returns the tokens between the opening bracket at `open` and the matching closing one. */
export function withinBrackets(tokens: readonly string[], open: number): string[] {
  let depth = 0;
  for (let at = open; at < tokens.length; at++) {
    if (tokens[at] === '(') depth++;
    else if (tokens[at] === ')' && --depth === 0) return tokens.slice(open + 1, at);
  }
  return tokens.slice(open + 1);
}

/** Splits at the commas that are outside of brackets. */
export function atCommas(tokens: readonly string[]): string[][] {
  const parts: string[][] = [[]];
  let depth = 0;
  for (const token of tokens) {
    if (token === '(') depth++;
    if (token === ')') depth--;
    if (token === ',' && depth === 0) parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts;
}

/**
 * Normalises an expression for comparison: removes brackets around the whole expression, and the table's own name
 * before its columns.
 */
export function expressionText(tokens: readonly string[], table: string): string {
  let inner = tokens.filter(
    (token, i) =>
      !(token === table.toLowerCase() && tokens[i + 1] === '.') &&
      !(token === '.' && tokens[i - 1] === table.toLowerCase()),
  );
  while (inner[0] === '(' && withinBrackets(inner, 0).length === inner.length - 2) inner = inner.slice(1, -1);
  return inner.join(' ');
}

const TOKEN =
  /--[^\n]*|\/\*[\s\S]*?\*\/|\s+|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|[\p{L}_][\p{L}\p{N}_$]*|\d[\w.]*|\|\||<=|>=|<>|!=|==|->>|->|<<|>>|[^\s]/gu;

function isSpace(token: string): boolean {
  return /^(?:\s|--|\/\*)/.test(token);
}

function isQuotedName(token: string): boolean {
  return /^["`[]/.test(token);
}

function unquoted(token: string): string {
  const quote = token[0] ?? '';
  const inner = token.slice(1, -1);
  return (quote === '[' ? inner : inner.replaceAll(quote + quote, quote)).toLowerCase();
}
