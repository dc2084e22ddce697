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
 * - `headless`: a headless shell, or a complete browser if there is none. A headless shell is Chromium without windows,
 *   menus and settings. It runs the same engine and storage, and end-to-end tests take a quarter less processor time.
 * - `complete`: a browser as people use it.
 *
 * @typedef {'headless' | 'complete'} Kind
 */

const shellNames = ['chromium-headless-shell', 'chrome-headless-shell'];

/**
 * The order matters: Debian's own package comes first, because a snap wrapper cannot see a profile outside the home
 * folder.
 */
const commandNames = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome'];

const linuxFolders = ['/usr/bin', '/usr/local/bin', '/opt/google/chrome', '/usr/lib/chromium', '/snap/bin'];

/** @type {Partial<Record<NodeJS.Platform, string[]>>} */
const macApps = {
  darwin: ['/Applications', join(homedir(), 'Applications')].flatMap((folder) => [
    join(folder, 'Chromium.app/Contents/MacOS/Chromium'),
    join(folder, 'Google Chrome.app/Contents/MacOS/Google Chrome'),
  ]),
};

/**
 * The folders of Playwright's downloads, and the paths below them: one for each platform and processor. Of one
 * revision, the headless shell comes first.
 *
 * @type {readonly { kind: Kind, folder: RegExp, inside: readonly string[] }[]}
 */
const downloads = [
  {
    kind: 'headless',
    folder: /^chromium_headless_shell-(\d+)$/,
    inside: [
      'chrome-linux/headless_shell',
      ...['linux64', 'linux-arm64', 'mac-arm64', 'mac-x64'].map(
        (machine) => `chrome-headless-shell-${machine}/chrome-headless-shell`,
      ),
    ],
  },
  {
    kind: 'complete',
    folder: /^chromium-(\d+)$/,
    inside: [
      'chrome-linux/chrome',
      'chrome-linux64/chrome',
      'chrome-linux-arm64/chrome',
      'chrome-mac/Chromium.app/Contents/MacOS/Chromium',
      'chrome-mac-arm64/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing',
      'chrome-mac-x64/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing',
    ],
  },
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
 * @param {Kind} [kind]
 * @param {Machine} [machine]
 * @returns {string | undefined} an executable file, or undefined when there is none
 */
export function findChromium(kind = 'headless', machine = thisMachine) {
  return chromiumCandidates(kind, machine)[0];
}

/**
 * Every executable Chromium among: `ROCKPOOL_CHROMIUM`, the PATH, the usual places of the platform, Playwright's own
 * downloads (newest first). An old headless shell among the downloads does not replace an installed browser.
 *
 * @param {Kind} kind
 * @param {Machine} machine
 * @returns {string[]} best first. Only `ROCKPOOL_CHROMIUM` if it is set: it is never replaced silently
 * @throws {Error} if `ROCKPOOL_CHROMIUM` is set but is not an executable file
 */
export function chromiumCandidates(kind, machine) {
  const wished = machine.env['ROCKPOOL_CHROMIUM'];
  if (wished) {
    if (machine.isExecutable(wished)) return [wished];
    throw new Error(`ROCKPOOL_CHROMIUM is "${wished}", which is not an executable file`);
  }
  const path = (machine.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  /** @param {readonly string[]} names */
  const installed = (names) => [
    ...names.flatMap((name) => path.map((folder) => join(folder, name))),
    ...(machine.platform === 'linux' ? linuxFolders.flatMap((folder) => names.map((name) => join(folder, name))) : []),
  ];
  const places = [
    ...(kind === 'headless' ? installed(shellNames) : []),
    ...installed(commandNames),
    ...(macApps[machine.platform] ?? []),
    ...playwrightDownloads(kind, machine),
  ];
  return [...new Set(places)].filter((place) => machine.isExecutable(place));
}

/** @param {string} path of a candidate */
export function isHeadlessShell(path) {
  return /headless[-_]shell$/.test(path);
}

/**
 * @param {Kind} kind
 * @param {Machine} machine
 */
function playwrightDownloads(kind, machine) {
  const folder =
    machine.env['PLAYWRIGHT_BROWSERS_PATH'] ??
    join(machine.home, machine.platform === 'darwin' ? 'Library/Caches/ms-playwright' : '.cache/ms-playwright');
  const names = machine.list(folder);
  return downloads
    .filter((download) => kind === 'headless' || download.kind === 'complete')
    .flatMap((download) =>
      names.map((name) => ({ name, inside: download.inside, revision: Number(download.folder.exec(name)?.[1]) })),
    )
    .filter(({ revision }) => Number.isInteger(revision))
    .sort((a, b) => b.revision - a.revision)
    .flatMap(({ name, inside }) => inside.map((path) => join(folder, name, path)));
}
