// Installs the dependencies if something changed since the last install. Every command of the repository starts here.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { node24, root, run, runNode24, stopSignal } from './children.mjs';

const stampFile = join(root, 'node_modules/.rockpool-setup');

/**
 * An install takes about a minute. With this limit, a stalled registry leads to an error message instead of an endless
 * wait.
 */
const installTimeoutMs = 10 * 60_000;

/** A failed setup step. The message says what to do. */
export class SetupError extends Error {}

/**
 * pnpm of exactly the version in package.json, fetched by npx on the first use.
 *
 * @param {readonly string[]} args
 * @returns {[program: string, args: string[]]}
 */
export function pnpm(args) {
  const { devEngines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return ['npx', ['--yes', `pnpm@${devEngines.packageManager.version}`, ...args]];
}

/**
 * Makes `node_modules` match the lockfile. Takes milliseconds if they already match.
 *
 * @throws {SetupError}
 */
export async function setup() {
  requireNode20();
  const wanted = dependencyStamp();
  if (existsSync(node24) && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === wanted) return;

  console.log('Installing dependencies (a minute or two the first time) …');
  rmSync(stampFile, { force: true }); // while the install runs, the state of node_modules is unknown
  const install = await run(...pnpm(['install', '--frozen-lockfile']), {
    quiet: true,
    timeoutMs: installTimeoutMs,
    env: { CI: 'true' },
  });
  if (stopSignal() !== undefined) throw new SetupError('Stopped while installing.');
  if (install.exitCode !== 0) {
    const reason = install.timedOut
      ? `took longer than ${installTimeoutMs / 60_000} minutes`
      : `ended with exit code ${install.exitCode}`;
    throw new SetupError(
      `${install.output.trim()}\n\nThe dependencies could not be installed: pnpm ${reason}; see the output above.\n` +
        'It needs access to an npm registry. After a change of a package.json, run ' +
        `\`${pnpm(['install']).flat().join(' ')}\` once, which updates pnpm-lock.yaml.`,
    );
  }
  const version = existsSync(node24) ? await runNode24(['--version'], { quiet: true }) : undefined;
  if (version?.exitCode !== 0) {
    throw new SetupError(
      `${version?.output.trim() ?? ''}\nThe package \`node\`, which brings Node 24, has no binary for ${process.platform} ${process.arch}.`,
    );
  }
  mkdirSync(join(root, 'node_modules'), { recursive: true });
  writeFileSync(stampFile, wanted);
}

function requireNode20() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  throw new SetupError(`Rockpool needs Node 20.19 or newer to start; this is ${process.versions.node}.`);
}

/** All inputs of an install: the lockfile, the manifests, and the machine that binaries are selected for. */
function dependencyStamp() {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}\n`);
  const manifests = ['packages', 'apps', 'examples'].flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => join(folder, name, 'package.json')),
  );
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', '.npmrc', 'package.json', ...manifests.sort()]) {
    if (existsSync(join(root, file))) hash.update(`${file}\n`).update(readFileSync(join(root, file)));
  }
  return hash.digest('hex');
}

/**
 * Runs a command of the repository, whose return value is the exit code. A SetupError becomes its message, without a
 * stack.
 *
 * @param {() => Promise<number>} command
 */
export async function runCommand(command) {
  try {
    process.exitCode = await command();
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}

/** @param {string} moduleUrl of the script that checks whether it was run directly or imported */
export function isMain(moduleUrl) {
  return process.argv[1] !== undefined && pathToFileURL(process.argv[1]).href === moduleUrl;
}

if (isMain(import.meta.url)) {
  await runCommand(async () => {
    await setup();
    return 0;
  });
}
