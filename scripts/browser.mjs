// Finds a Chromium that starts: an installed one, or otherwise a downloaded one.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, run, runNode24, stopSignal } from './children.mjs';
import { chromiumCandidates, isHeadlessShell, thisMachine } from './find-chromium.mjs';
import { SetupError, isMain, runCommand, setup } from './setup.mjs';

/** @typedef {import('./find-chromium.mjs').Kind} Kind */

/**
 * Playwright's download is 110 MB, or 170 MB of a complete browser. If its server is unreachable, the download fails at
 * once or stalls, so it has a time limit.
 */
const downloadTimeoutMs = 5 * 60_000;
const aptTimeoutMs = 10 * 60_000;

/** The time limit for fetching a package without which the tests can run. */
const fasterTimeoutMs = 60_000;

/** Exists if adding a headless shell to this machine has failed: it is tried once per checkout. */
const noShellStamp = join(root, 'node_modules/.rockpool-no-headless-shell');

/**
 * @param {Kind} kind `headless`: for tests, which need less processor time in a headless shell
 * @returns {Promise<string>} the path of a Chromium that starts
 * @throws {SetupError} if none is installed and none could be downloaded
 */
export async function ensureChromium(kind) {
  const here = await firstThatStarts(kind);
  if (here !== undefined) {
    if (kind === 'complete' || isHeadlessShell(here) || thisMachine.env['ROCKPOOL_CHROMIUM']) return here;
    await addHeadlessShell();
    return (await firstThatStarts(kind)) ?? here;
  }
  const { ROCKPOOL_CHROMIUM: wished } = thisMachine.env;
  if (wished) throw new SetupError(`ROCKPOOL_CHROMIUM is "${wished}", which does not start`);
  console.log('No Chromium found.');
  const trouble = [];
  // What Playwright downloads does not start on a Debian without the libraries that its packages bring.
  const ways = isDebian() ? [byApt, byPlaywright] : [byPlaywright, byApt];
  for (const fetched of ways) {
    const problem = await fetched(kind);
    if (stopSignal() !== undefined) break;
    const found = await firstThatStarts(kind);
    if (found !== undefined) return found;
    if (problem !== undefined) trouble.push(problem);
  }
  throw new SetupError(
    `${trouble.join('\n')}\n\nThe tests need Chromium, and none was found or could be fetched. Do one of the following:\n` +
      '  - Debian:  apt-get install chromium\n' +
      '  - Ubuntu:  node_modules/.bin/playwright install --with-deps chromium\n' +
      '  - macOS:   install Google Chrome or Chromium into /Applications\n' +
      '  - anywhere: set ROCKPOOL_CHROMIUM to the path of a Chromium or Chrome',
  );
}

/**
 * Adds Debian's headless shell to Debian's Chromium of the same version, which saves more time than it takes. Without
 * it, the tests run in the complete browser.
 */
async function addHeadlessShell() {
  if (!isDebian() || !mayUseApt() || existsSync(noShellStamp)) return;
  const { exitCode, output: version } = await run('dpkg-query', ['-W', '-f', '${Version}', 'chromium-common'], {
    quiet: true,
  });
  // Another version would replace the installed browser.
  if (exitCode === 0) {
    console.log('Installing the package chromium-headless-shell with apt-get, in which the tests are faster …');
    await aptInstall(`chromium-headless-shell=${version.trim()}`, fasterTimeoutMs);
  }
  if (stopSignal() !== undefined) return;
  // apt also succeeds for an installed shell that does not start.
  const found = await firstThatStarts('headless');
  if (found === undefined || !isHeadlessShell(found)) writeFileSync(noShellStamp, '');
}

/**
 * @param {Kind} kind
 * @returns {Promise<string | undefined>} what went wrong, if known
 */
async function byPlaywright(kind) {
  console.log('Downloading Chromium with Playwright …');
  const cli = join(root, 'node_modules/playwright/cli.js');
  const which = kind === 'headless' ? '--only-shell' : '--no-shell';
  const download = await runNode24([cli, 'install', which, 'chromium'], {
    quiet: true,
    timeoutMs: downloadTimeoutMs,
  });
  return download.exitCode === 0
    ? 'Playwright downloaded a Chromium that does not start here.'
    : lastLines(download.output);
}

/**
 * @param {Kind} kind
 * @returns {Promise<string | undefined>} what went wrong, if anything
 */
async function byApt(kind) {
  if (!mayUseApt()) return undefined;
  /** @type {string | undefined} */
  let problem;
  // Older releases of Debian do not have the headless shell.
  for (const name of kind === 'headless' ? ['chromium-headless-shell', 'chromium'] : ['chromium']) {
    console.log(`Installing the package ${name} with apt-get …`);
    const { exitCode, output } = await aptInstall(name, aptTimeoutMs);
    if (exitCode === 0) return undefined;
    if (stopSignal() !== undefined) return lastLines(output);
    problem = lastLines(output);
  }
  return problem;
}

/**
 * Installs a package, and fetches the lists of packages only if they are missing or old. Only the download has a short
 * time limit: dpkg must not be killed while it unpacks.
 *
 * @param {string} name with or without a version
 * @param {number} downloadMs
 */
async function aptInstall(name, downloadMs) {
  const untilMs = performance.now() + downloadMs;
  /** @param {readonly string[]} args */
  const apt = (args, timeoutMs = Math.max(1, untilMs - performance.now())) =>
    run('apt-get', args, { quiet: true, timeoutMs, env: { DEBIAN_FRONTEND: 'noninteractive' } });
  const install = ['install', '--yes', '--no-install-recommends', '--no-remove', name];
  const first = await apt([...install, '--download-only']);
  if (stopSignal() !== undefined) return first;
  if (first.exitCode !== 0) {
    const update = await apt(['update']);
    const second = await apt([...install, '--download-only']);
    if (second.exitCode !== 0 || stopSignal() !== undefined)
      return { ...second, exitCode: second.exitCode || 1, output: `${update.output}\n${second.output}` };
  }
  return await apt([...install, '--no-download'], aptTimeoutMs);
}

function mayUseApt() {
  return existsSync('/usr/bin/apt-get') && process.getuid?.() === 0;
}

/** Whether this is Debian itself: the packages of Ubuntu contain no browser. */
function isDebian() {
  return existsSync('/etc/os-release') && /^ID=debian$/m.test(readFileSync('/etc/os-release', 'utf8'));
}

/**
 * A file may be executable and still not start: shared libraries can be missing, and on Ubuntu /usr/bin/chromium may be
 * a stub.
 *
 * @param {Kind} kind
 */
async function firstThatStarts(kind) {
  for (const path of chromiumCandidates(kind, thisMachine)) {
    const version = await run(path, ['--version'], { quiet: true, timeoutMs: 30_000 });
    if (version.exitCode === 0 && /\d+\.\d+/.test(version.output)) return path;
  }
  return undefined;
}

/** @param {string} output */
function lastLines(output) {
  return output.trim().split('\n').slice(-15).join('\n');
}

if (isMain(import.meta.url)) {
  await runCommand(async () => {
    await setup();
    console.log(await ensureChromium('headless'));
    return 0;
  });
}
