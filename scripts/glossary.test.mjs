import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from './children.mjs';

// The last table of docs/glossary.md lists words to avoid in code, comments, errors, UI text and docs. This test
// searches for those that a pattern can distinguish from the word's ordinary meaning.

/** @typedef {{ pattern: RegExp, allowed?: [inLineOrPath: RegExp, reason: string][] } | { reviewed: string }} Rule */

/** @type {Record<string, Rule>} by the first column of the table */
const RULES = {
  parked: {
    pattern: /\bpark(ed|s|ing)?\b|[a-z]Parked|\bparked[A-Z_]/i,
    allowed: [[/rockpool_parked|parked_ms/, 'a stored table and its column']],
  },
  withheld: { pattern: /withh(e|o)ld/i },
  news: { pattern: /\bnews\b|[a-z]News\b|\bnews[A-Z]|\bNews[A-Z]/ },
  'whole state, reload (of data)': { pattern: /whole-state|wholeState/i },
  'decided up to': {
    pattern: /decided up to|decidedUpTo/i,
    allowed: [[/rockpool_decided/, 'a stored table']],
  },
  'conflict ledger, losses': {
    pattern: /conflict ledger|\bin(to)? the ledger\b|\blosses\b/i,
    allowed: [[/^apps\/demo-budget\//, 'the ledger is a page of the demo']],
  },
  'epoch (alone)': { reviewed: 'right beside the word "log", and part of stored names' },
  'link (of the log)': { reviewed: 'the word is ordinary elsewhere' },
  'person (a tab)': { reviewed: 'the word is ordinary elsewhere' },
  'whereIs, whereabouts': { pattern: /\bwhereIs|[a-z]WhereIs|whereabouts/i },
  'set aside (a database)': { pattern: /\b(set|sets|setting) aside\b|setAside/i },
  'floor (of deletes)': { reviewed: 'the oldest version of a range is a floor too' },
  'hidden base': { pattern: /hidden ?base/i },
  'places, turns': { reviewed: 'the words are ordinary elsewhere' },
  'fate (of a write)': {
    pattern: /\bfates?\b|[a-z]Fates?\b|\bfates?[A-Z]/i,
    allowed: [
      [/^apps\/demo-budget\/src\/import\//, 'what an import does with a row'],
      [/^tests\/kills\/page\/disturb-broadcasts\.ts/, 'what becomes of a message'],
    ],
  },
  timestamp: {
    pattern: /timestamp/i,
    allowed: [
      [
        /timestamp_ms|mode: 'timestamp'|`timestamp`|timestamptz|(?:clock|statement)_timestamp|CURRENT_TIMESTAMP|timeStamp|and 1, timestamps/,
        'a type of Drizzle or PostgreSQL, a function of SQL, a field of an event',
      ],
    ],
  },
  'primary, master': {
    pattern: /\bmaster\b|\bprimary (tab|instance|replica)\b/i,
    allowed: [[/sqlite_(temp_)?master/, 'a table of SQLite']],
  },
  whoever: {
    pattern: /\bwhoever\b/i,
  },
  'is told': {
    pattern: /\b(is|are|was|were|be|been) told\b/i,
  },
  anew: { pattern: /\banew\b/i, allowed: [[/'anew'/, 'a value of a row']] },
  'goes on': {
    pattern: /\b(goes|went) on\b/i,
  },
  'gives back (a row, a statement)': { pattern: /\b(gives?|gave|given) back\b/i },
  'takes along (rows)': { pattern: /\b(takes?|taken|took) [^.]{0,30}\balong\b/i },
  'ones to come': { pattern: /\bones to come\b/i },
  'Throws as, Rejects as': { pattern: /\b(Throws|Rejects) as\b/ },
  'leading tab': { pattern: /\bleading tabs?\b/i },
  'for ever': { pattern: /\bfor ever\b/i },
  'comes to nothing': { pattern: /\b(come|comes|came) to nothing\b/i },
  'another type than': { pattern: /\b(another|other) types? than\b/i },
  'takes … for equal': { pattern: /\b(takes?|taken|took) [^.]{0,30}\bfor equal\b/i },
  'thousand million': { pattern: /\bthousand million\b/i },
};

const files = globSync(
  ['*.md', '{apps,benchmarks,docs,examples,packages,scripts,tests}/**/*.{css,html,md,mjs,ts,tsx}'],
  { cwd: root, exclude: (name) => /(^|\/)(node_modules|dist|\.rockpool|\.vitepress)$/.test(name) },
).filter((file) => !['docs/glossary.md', 'scripts/glossary.test.mjs', 'CHANGELOG.md'].includes(file));

const read = (/** @type {string} */ file) => readFileSync(join(root, file), 'utf8');

it('every word that the glossary excludes has a pattern, or a reason why a pattern cannot find it', () => {
  const table = read('docs/glossary.md').trimEnd().split('\n\n').at(-1)?.split('\n').slice(2) ?? [];
  expect(table.map((line) => line.split('|')[1]?.trim())).toEqual(Object.keys(RULES));
});

it('no file uses a word that the glossary excludes', () => {
  const found = files.flatMap((file) => {
    const text = read(file);
    // Most files match no pattern.
    const rules = Object.entries(RULES).filter(([, rule]) => 'pattern' in rule && rule.pattern.test(text));
    if (rules.length === 0) return [];
    return text
      .split('\n')
      .flatMap((line, index) =>
        rules
          .filter(
            ([, rule]) =>
              'pattern' in rule &&
              rule.pattern.test(line) &&
              !rule.allowed?.some(([allowed]) => allowed.test(line) || allowed.test(file)),
          )
          .map(([word]) => `${word}: ${file}:${index + 1}`),
      );
  });
  expect(found).toEqual([]);
});
