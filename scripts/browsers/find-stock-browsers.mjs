// Finds Firefox and WebKitGTK on this machine. Does not install them; test-browsers.mjs does.

import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Debian's folder names contain the processor architecture, and WebKit's contain its API version. */
const libraryFolder = '/usr/lib';

/** A missing program keeps its usual path, so that starting it fails with an error that names it. */
export function findStockBrowsers() {
  return {
    firefox: inPath('firefox-esr') ?? inPath('firefox') ?? '/usr/bin/firefox-esr',
    webkit: {
      driver: inPath('WebKitWebDriver') ?? '/usr/bin/WebKitWebDriver',
      miniBrowser: findMiniBrowser() ?? '/usr/lib/webkit2gtk-4.1/MiniBrowser',
      xvfb: inPath('Xvfb') ?? '/usr/bin/Xvfb',
    },
  };
}

/** @param {string} name */
function inPath(name) {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));
}

function findMiniBrowser() {
  return list(libraryFolder)
    .flatMap((folder) => list(folder))
    .filter((path) => /\/webkit2?gtk-[\d.]+$/.test(path))
    .map((path) => join(path, 'MiniBrowser'))
    .find((path) => existsSync(path));
}

/** @param {string} folder */
function list(folder) {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return [];
  }
}
