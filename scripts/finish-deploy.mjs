// Runs after `pnpm deploy`, which ignores `publishConfig`: makes the manifests of this repository's packages in that
// folder name their built files, as those of published packages do. Usage: node scripts/finish-deploy.mjs FOLDER

import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isMain } from './setup.mjs';

/** @param {string} folder of one package */
function useBuilt(folder) {
  const path = join(folder, 'package.json');
  const { publishConfig, ...manifest } = JSON.parse(readFileSync(path, 'utf8'));
  // Replaces the file instead of writing into it: the existing file may be a link to the workspace's file.
  writeFileSync(`${path}.new`, `${JSON.stringify({ ...manifest, ...publishConfig }, null, 2)}\n`);
  renameSync(`${path}.new`, path);
}

if (isMain(import.meta.url)) {
  const deployed = resolve(process.argv[2] ?? '.');
  const scope = join(deployed, 'node_modules/@rockpool');
  for (const folder of [deployed, ...readdirSync(scope).map((name) => join(scope, name))]) useBuilt(folder);
}
