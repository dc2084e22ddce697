import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from './children.mjs';
import { sourceFiles } from './tests/test-files.mjs';

// The formatter wraps code, but neither comments nor Markdown.

const MOST_COLUMNS = 120;
/** Written by `npm run docs:generate` and `npm run api`. */
const generated = new Set([
  'docs/api.md',
  'docs/configuration.md',
  'docs/decisions/index.md',
  'docs/errors.md',
  'docs/operations/metrics-and-log.md',
]);

/** A word of prose: links and code spans stay in one piece. */
const WORD = /(?:!?\[(?:[^[\]]|\[[^\]]*\])*\]\([^)\s]*\)|`[^`]*`|\S)+/g;

/**
 * @param {string} line
 * @returns {boolean} whether the line is too long and has a space at which it can be broken
 */
function isTooLong(line) {
  if (line.length <= MOST_COLUMNS) return false;
  const starts = Array.from(line.matchAll(WORD), ({ index }) => index);
  // The first two words may be a list marker and a link.
  return starts.slice(2).some((start) => start <= MOST_COLUMNS);
}

/**
 * @param {string} text
 * @returns {string[]} lines of prose, without front matter, tables, headings, code blocks and generated parts
 */
function proseOf(text) {
  let isCode = false;
  let isGenerated = false;
  const [, body = text] = /^---\n[^]*?\n---\n([^]*)$/.exec(text) ?? [];
  return body.split('\n').filter((line) => {
    const isFence = /^\s*(```|~~~)/.test(line);
    if (isFence) isCode = !isCode;
    if (line.includes('<!-- begin')) isGenerated = true;
    if (line.includes('<!-- end')) isGenerated = false;
    return !isFence && !isCode && !isGenerated && !/^\s*([|#<>]|\[[^\]]+\]:)/.test(line);
  });
}

/** @returns {string[]} */
function markdownFiles() {
  const inDocs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name}`);
  return [...readdirSync(root), ...inDocs, ...sourceFiles()].filter(
    (file) => file.endsWith('.md') && !/(^|\/)(node_modules|dist|\.vitepress)\//.test(file),
  );
}

/** @param {string} file */
const read = (file) => readFileSync(join(root, file), 'utf8');

describe('prose', () => {
  it('has at most 120 columns in comments', () => {
    // Diagrams have runs of spaces, and lists of JSDoc tags stay on one line.
    const comment = /^\s*(\*|\/\/) (?! )(?!.*\S {2,}\S)[^@]*$/;
    const found = sourceFiles()
      .filter((file) => /\.(tsx?|m[jt]s)$/.test(file))
      .flatMap((file) =>
        read(file)
          .split('\n')
          .filter((line) => comment.test(line) && isTooLong(line))
          .map((line) => `${file}: ${line.trim()}`),
      );
    expect(found).toEqual([]);
  });

  it('has at most 120 columns in Markdown', () => {
    const found = markdownFiles()
      .filter((file) => !generated.has(file))
      .flatMap((file) =>
        proseOf(read(file))
          .filter(isTooLong)
          .map((line) => `${file}: ${line.trim()}`),
      );
    expect(found).toEqual([]);
  });

  it('that can be wrapped is found, and a long link is not', () => {
    const word = 'word '.repeat(30);
    expect(isTooLong(word)).toBe(true);
    expect(isTooLong(`- [link](${'x'.repeat(130)})`)).toBe(false);
    expect(proseOf('---\ntitle: a\n---\n```\ncode\n```\n| a |\n# b\ntext')).toEqual(['text']);
  });
});
