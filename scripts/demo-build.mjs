// Builds the demo app if its inputs changed since the last build.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, run, stopSignal } from './children.mjs';
import { SetupError } from './setup.mjs';

const app = 'apps/demo-budget';
const stampFile = join(root, '.rockpool/demo-build');

/** Folders of the app and the packages that a build does not read or that it writes itself. */
const notRead = new Set([
  'node_modules',
  'dist',
  'e2e',
  '.turbo',
  '.vite',
  '.rockpool',
  'test-results',
  'server',
  'testing',
]);

/** @throws {SetupError} if the build fails, after printing the cause */
export async function buildDemo() {
  const built = existsSync(join(root, app, 'dist/index.html')) && existsSync(stampFile);
  if (built && readFileSync(stampFile, 'utf8') === buildStamp()) return;

  console.log('Building the demo …');
  rmSync(stampFile, { force: true });
  const build = await run('npm', ['run', '--silent', 'build'], {
    cwd: join(root, app),
    quiet: true,
    // The best quality takes 5 s of processor time more, for files that are a tenth smaller.
    env: { BROTLI_QUALITY: '5' },
  });
  if (stopSignal() !== undefined) throw new SetupError('Stopped while building.');
  if (build.exitCode !== 0)
    throw new SetupError(`${build.output.trim()}\n\nThe demo could not be built; see the output above.`);
  mkdirSync(join(root, '.rockpool'), { recursive: true });
  writeFileSync(stampFile, buildStamp()); // computed after the build, which may write generated sources
}

function buildStamp() {
  const hash = createHash('sha256');
  const folders = [app, ...['shared', 'vfs-opfs', 'client'].map((name) => `packages/${name}`)];
  for (const file of ['pnpm-lock.yaml', ...folders.flatMap(filesBelow)]) {
    hash.update(`${file}\n`).update(readFileSync(join(root, file)));
  }
  return hash.digest('hex');
}

/**
 * @param {string} folder
 * @returns {string[]} in the same order on every machine
 */
function filesBelow(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => !notRead.has(entry.name) && !/\.test\.tsx?$/.test(entry.name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      return entry.isDirectory() ? filesBelow(path) : entry.isFile() ? [path] : [];
    });
}
