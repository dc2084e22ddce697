// Finds a Chromium that starts: an installed one, or otherwise a downloaded one.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root, run, runNode24 } from './children.mjs';
import { chromiumCandidates, thisMachine } from './find-chromium.mjs';
import { SetupError, isMain, runCommand, setup } from './setup.mjs';

/**
 * Playwright's download is 170 MB. If its server is unreachable, the download fails at once or stalls, so it has a time
 * limit.
 */
const downloadTimeoutMs = 5 * 60_000;
const aptTimeoutMs = 10 * 60_000;

/**
 * @returns {Promise<string>} the path of a Chromium that starts
 * @throws {SetupError} if none is installed and none could be downloaded
 */
export async function ensureChromium() {
  const here = await firstThatStarts();
  if (here !== undefined) return here;

  console.log('No Chromium found. Downloading one with Playwright …');
  const cli = join(root, 'node_modules/playwright/cli.js');
  const download = await runNode24([cli, 'install', '--no-shell', 'chromium'], {
    quiet: true,
    timeoutMs: downloadTimeoutMs,
  });
  const downloaded = await firstThatStarts();
  if (downloaded !== undefined) return downloaded;
  const trouble =
    download.exitCode === 0
      ? ['Playwright downloaded a Chromium that does not start here.']
      : [lastLines(download.output)];

  if (existsSync('/usr/bin/apt-get') && process.getuid?.() === 0) {
    console.log('Installing the package chromium with apt-get …');
    const apt = { quiet: true, timeoutMs: aptTimeoutMs, env: { DEBIAN_FRONTEND: 'noninteractive' } };
    const update = await run('apt-get', ['update'], apt);
    const install = await run('apt-get', ['install', '--yes', '--no-install-recommends', 'chromium'], apt);
    const installed = await firstThatStarts();
    if (installed !== undefined) return installed;
    trouble.push(lastLines(`${update.output}\n${install.output}`));
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
 * A file may be executable and still not start: shared libraries can be missing, and on Ubuntu /usr/bin/chromium may be
 * a stub.
 */
async function firstThatStarts() {
  for (const path of chromiumCandidates(thisMachine)) {
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
    console.log(await ensureChromium());
    return 0;
  });
}
