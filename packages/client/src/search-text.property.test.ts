import { anyCharacter } from '@rockpool/shared/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atLevel } from '../../../tests/kit/level.ts';
import { searchText } from './search-text.ts';
import { Connection } from './worker/sqlite/connection.ts';
import { loadSqlite } from './worker/sqlite/load-sqlite.node.ts';

const connection = new Connection(await loadSqlite(), { path: ':memory:' });
connection.exec(
  "CREATE VIRTUAL TABLE words USING fts5(body, tokenize='unicode61 remove_diacritics 2'); CREATE VIRTUAL TABLE trigrams USING fts5(body, tokenize='trigram')",
);

function count(table: 'words' | 'trigrams', body: string, typed: string): unknown {
  connection.run(`DELETE FROM ${table}`);
  connection.run(`INSERT INTO ${table} (body) VALUES (?)`, body);
  return connection.value(`SELECT count(*) FROM ${table} WHERE ${table} MATCH ?`, searchText(typed));
}

const SIGNS = fc.string({
  unit: fc.constantFrom(
    '"',
    "'",
    '*',
    '^',
    '(',
    ')',
    '-',
    '+',
    ':',
    '{',
    '}',
    '\u0000',
    ' ',
    '\\',
    'a',
    'OR',
    'AND ',
    ' NOT ',
    'NEAR(',
    'é',
    '\ud800',
    ',',
  ),
  maxLength: 12,
});

describe('searchText', () => {
  it('never causes a syntax error', () => {
    fc.assert(
      fc.property(fc.oneof(SIGNS, fc.string({ unit: anyCharacter }), fc.string({ unit: 'grapheme' })), (typed) => {
        for (const table of ['words', 'trigrams'] as const) expect(typeof count(table, 'a b', typed)).toBe('number');
      }),
      { numRuns: atLevel({ test: 700, verify: 2_000 }) },
    );
  });

  it('finds a text by prefixes of its words, in any order', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '7', 'ø', 'я'), minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(fc.array(fc.tuple(word, fc.nat(4)), { minLength: 1, maxLength: 4 }), (words) => {
        const typed = words.map(([text, length]) => text.slice(0, length + 1).toUpperCase()).toReversed();
        expect(count('words', words.map(([text]) => text).join(', '), ` ${typed.join('  ')} `)).toBe(1);
      }),
    );
  });

  it.each([
    ['a word that does not occur', 'old mill', 'old mull', 0],
    ['operators, which are words', 'this and that', 'this AND', 1],
    ['a hyphen, whose parts must follow each other', 'my e-mail', 'e-ma', 1],
    ['the parts of a hyphen in another order', 'mail e', 'e-mail', 0],
    ['nothing', 'old mill', '  ', 0],
    ['signs alone', 'old mill', '"(-', 0],
    ['signs beside a word', 'old mill', '- mill', 1],
  ])('handles %s', (_, body, typed, expected) => {
    expect(count('words', body, typed)).toBe(expected);
  });
});
