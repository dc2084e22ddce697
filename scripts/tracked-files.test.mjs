import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from './children.mjs';

// A tool that downloads into the current folder leaves files that `git add` picks up unnoticed, and history keeps them.

/** Extensions of the files that belong here. Add one on purpose. */
const kinds = new Set(
  '.ts .tsx .mts .mjs .js .json .md .css .html .svg .png .c .yaml .txt .sql .csv .webmanifest .wasm .template .sh .service'.split(
    ' ',
  ),
);
const names = new Set(
  'LICENSE LICENSE-wa-sqlite SHA256SUMS Caddyfile Dockerfile run .gitignore .dockerignore .npmrc'.split(' '),
);
/** The largest file is SQLite's build. */
const mostBytes = 1024 * 1024;

/** @returns {string[]} paths of the files in git's index; empty outside a checkout */
function trackedFiles() {
  try {
    return execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean);
  } catch {
    return [];
  }
}

describe('files under version control', () => {
  const files = trackedFiles();

  it('are of known kinds', () => {
    expect(files.filter((file) => !kinds.has(extname(file)) && !names.has(basename(file)))).toEqual([]);
  });

  it('have at most 1 MB', () => {
    const sizes = files.map((file) => [file, statSync(join(root, file), { throwIfNoEntry: false })?.size ?? 0]);
    expect(sizes.filter(([, bytes]) => Number(bytes) > mostBytes)).toEqual([]);
  });
});
