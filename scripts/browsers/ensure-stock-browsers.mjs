// Finds Firefox and WebKitGTK for `npm run test:browsers`: installed ones, or otherwise Debian's packages.

import { existsSync } from 'node:fs';
import { run } from '../children.mjs';
import { SetupError } from '../setup.mjs';
import { findStockBrowsers } from './find-stock-browsers.mjs';

const aptTimeoutMs = 15 * 60_000;
/** Debian's package of each program. */
const packages = { Firefox: 'firefox-esr', 'WebKitWebDriver and MiniBrowser': 'webkit2gtk-driver', Xvfb: 'xvfb' };

/** @throws {SetupError} that names the missing programs and how to install them */
export async function ensureStockBrowsers() {
  if (missing().length === 0) return;
  let trouble = '';
  if (existsSync('/usr/bin/apt-get') && process.getuid?.() === 0) {
    const wanted = Object.values(packages);
    console.log(`Installing ${wanted.join(', ')} with apt-get …`);
    const apt = { quiet: true, timeoutMs: aptTimeoutMs, env: { DEBIAN_FRONTEND: 'noninteractive' } };
    const update = await run('apt-get', ['update'], apt);
    const install = await run('apt-get', ['install', '--yes', '--no-install-recommends', ...wanted], apt);
    if (missing().length === 0) return;
    trouble = `${update.output}\n${install.output}`.trim().split('\n').slice(-10).join('\n');
  }
  throw new SetupError(
    `${trouble}\nThe tests in stock browsers lack: ${missing().join('; ')}.\n` +
      `On Debian: apt-get install ${Object.values(packages).join(' ')}. Elsewhere: put firefox, WebKitWebDriver and Xvfb on the PATH.`,
  );
}

function missing() {
  const { firefox, webkit } = findStockBrowsers();
  return [
    ...(existsSync(firefox) ? [] : ['Firefox']),
    ...(existsSync(webkit.driver) && existsSync(webkit.miniBrowser)
      ? []
      : ['WebKitWebDriver and MiniBrowser of WebKitGTK']),
    ...(existsSync(webkit.xvfb) ? [] : ['Xvfb']),
  ];
}
