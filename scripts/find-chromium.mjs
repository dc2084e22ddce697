// Finds an installed Chromium. Never downloads one (browser.mjs does). Runs on Node 20 before anything is installed,
// and inside vitest.config.ts.

import { accessSync, constants, readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

/**
 * The parts of the machine that the search may look at. Everything is an argument, so that a test needs no browser.
 *
 * @typedef {object} Machine
 * @property {Record<string, string | undefined>} env
 * @property {NodeJS.Platform} platform
 * @property {string} home
 * @property {(path: string) => boolean} isExecutable
 * @property {(path: string) => string[]} list names in a folder; empty if there is none
 */

/**
 * The order matters: Debian's own package comes first, because a snap wrapper cannot see a profile outside the home
 * folder.
 */
const commandNames = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome'];

/** @type {Partial<Record<NodeJS.Platform, string[]>>} */
const usualPlaces = {
  linux: ['/usr/bin', '/usr/local/bin', '/opt/google/chrome', '/usr/lib/chromium', '/snap/bin'].flatMap((folder) =>
    commandNames.map((name) => join(folder, name)),
  ),
  darwin: ['/Applications', join(homedir(), 'Applications')].flatMap((folder) => [
    join(folder, 'Chromium.app/Contents/MacOS/Chromium'),
    join(folder, 'Google Chrome.app/Contents/MacOS/Google Chrome'),
  ]),
};

/** Paths below `chromium-<revision>/` in Playwright's folder, one for each platform and processor. */
const insidePlaywrightFolder = [
  'chrome-linux/chrome',
  'chrome-linux64/chrome',
  'chrome-mac/Chromium.app/Contents/MacOS/Chromium',
  'chrome-mac-arm64/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing',
  'chrome-mac-x64/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing',
];

/** @type {Machine} */
export const thisMachine = {
  env: process.env,
  platform: process.platform,
  home: homedir(),
  isExecutable(path) {
    try {
      accessSync(path, constants.X_OK);
      return statSync(path).isFile();
    } catch {
      return false;
    }
  },
  list(path) {
    try {
      return readdirSync(path);
    } catch {
      return [];
    }
  },
};

/**
 * The first of `chromiumCandidates`. Does not start it to see whether it runs.
 *
 * @param {Machine} [machine]
 * @returns {string | undefined} an executable file, or undefined when there is none
 */
export function findChromium(machine = thisMachine) {
  return chromiumCandidates(machine)[0];
}

/**
 * Every executable Chromium among: `ROCKPOOL_CHROMIUM`, the PATH, the usual places of the platform, Playwright's own
 * downloads (newest first).
 *
 * @param {Machine} machine
 * @returns {string[]} best first. Only `ROCKPOOL_CHROMIUM` if it is set: it is never replaced silently
 * @throws {Error} if `ROCKPOOL_CHROMIUM` is set but is not an executable file
 */
export function chromiumCandidates(machine) {
  const wished = machine.env['ROCKPOOL_CHROMIUM'];
  if (wished) {
    if (machine.isExecutable(wished)) return [wished];
    throw new Error(`ROCKPOOL_CHROMIUM is "${wished}", which is not an executable file`);
  }
  const folders = (machine.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const places = [
    ...commandNames.flatMap((name) => folders.map((folder) => join(folder, name))),
    ...(usualPlaces[machine.platform] ?? []),
    ...playwrightDownloads(machine),
  ];
  return [...new Set(places)].filter((path) => machine.isExecutable(path));
}

/** @param {Machine} machine */
function playwrightDownloads(machine) {
  const folder =
    machine.env['PLAYWRIGHT_BROWSERS_PATH'] ??
    join(machine.home, machine.platform === 'darwin' ? 'Library/Caches/ms-playwright' : '.cache/ms-playwright');
  return machine
    .list(folder)
    .map((name) => ({ name, revision: Number(/^chromium-(\d+)$/.exec(name)?.[1]) }))
    .filter(({ revision }) => Number.isInteger(revision))
    .sort((a, b) => b.revision - a.revision)
    .flatMap(({ name }) => insidePlaywrightFolder.map((inside) => join(folder, name, inside)));
}
