// `npm run api`: writes packages/*/api.txt, what each entry of a package exports, without doc comments and sorted. A
// change of the public API then shows in a review as a change of these files. scripts/api-report.test.mjs fails while
// one is out of date.
//
// It reads the sources, not emitted .d.ts files: with `isolatedDeclarations` every exported declaration in them has its
// full type.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './children.mjs';
import { exportedNames, findDeclaration } from './docs/declarations.mjs';
import { isMain } from './setup.mjs';

// Not `shared`: it has no public API.
const PACKAGES = ['client', 'sync-server', 'vfs-opfs'];

/** @returns {Map<string, string>} the content of every report, by its path from the root */
export function apiReports() {
  return new Map(PACKAGES.map((name) => [`packages/${name}/api.txt`, report(name)]));
}

/** @param {string} name of the package's folder */
function report(name) {
  /** @type {{ exports: Record<string, string> }} */
  const { exports } = JSON.parse(readFileSync(join(root, `packages/${name}/package.json`), 'utf8'));
  const entries = Object.entries(exports).filter(([entry]) => entry !== './testing');
  const sections = entries.map(([entry, path]) => {
    const declarations = exportedNames(join(`packages/${name}`, path)).map((exported) => {
      const declaration = findDeclaration(join(`packages/${name}`, path), exported);
      return declaration === undefined ? `${exported} (of another package)` : withoutComments(declaration.code);
    });
    return `── ${join(`@rockpool/${name}`, entry)}\n\n${declarations.join('\n\n')}\n`;
  });
  return `Written by \`npm run api\`.\n\n${sections.join('\n')}`;
}

/** @param {string} code */
function withoutComments(code) {
  return code
    .replaceAll(/^ *\/\*\*[\s\S]*?\*\/\n/gm, '')
    .replaceAll(/^ *\/\/.*\n/gm, '')
    .replaceAll(/ \/\*\*[^\n]*?\*\//g, '')
    .replaceAll(/ +\/\/ .*$/gm, '');
}

if (isMain(import.meta.url)) for (const [path, content] of apiReports()) writeFileSync(join(root, path), content);
