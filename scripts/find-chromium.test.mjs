import { describe, expect, it } from 'vitest';
import { findChromium, isHeadlessShell } from './find-chromium.mjs';

/**
 * @param {{ files?: string[], env?: Record<string, string>, platform?: NodeJS.Platform, folders?: Record<string,
 * string[]> }} has
 * @returns {import('./find-chromium.mjs').Machine}
 */
function machine({ files = [], env = {}, platform = 'linux', folders = {} }) {
  return {
    env,
    platform,
    home: '/home/ada',
    isExecutable: (path) => files.includes(path),
    list: (path) => folders[path] ?? [],
  };
}

describe('the search for a Chromium', () => {
  it('prefers the program that ROCKPOOL_CHROMIUM names', () => {
    const files = ['/opt/mine/chrome', '/usr/bin/chromium'];
    expect(findChromium('headless', machine({ files, env: { ROCKPOOL_CHROMIUM: '/opt/mine/chrome' } }))).toBe(
      '/opt/mine/chrome',
    );
  });

  it('throws if ROCKPOOL_CHROMIUM names no executable, even if another Chromium exists', () => {
    const asked = machine({ files: ['/usr/bin/chromium'], env: { ROCKPOOL_CHROMIUM: '/opt/gone/chrome' } });
    expect(() => findChromium('headless', asked)).toThrow('/opt/gone/chrome');
  });

  it('prefers the PATH to the usual places, and Chromium to Chrome', () => {
    const files = ['/usr/bin/google-chrome', '/home/ada/bin/google-chrome', '/home/ada/bin/chromium'];
    expect(findChromium('headless', machine({ files, env: { PATH: '/home/ada/bin:/usr/bin' } }))).toBe(
      '/home/ada/bin/chromium',
    );
    expect(findChromium('headless', machine({ files, env: { PATH: '/nothing/here' } }))).toBe('/usr/bin/google-chrome');
  });

  it('looks into /Applications on macOS', () => {
    const chrome = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';
    expect(findChromium('headless', machine({ files: [chrome], platform: 'darwin' }))).toBe(chrome);
    expect(findChromium('headless', machine({ files: [chrome], platform: 'linux' }))).toBeUndefined();
  });

  it("falls back to the newest of Playwright's downloads", () => {
    const cache = '/home/ada/.cache/ms-playwright';
    const older = `${cache}/chromium-999/chrome-linux/chrome`;
    const newer = `${cache}/chromium-1208/chrome-linux64/chrome`;
    const folders = { [cache]: ['chromium-999', 'chromium-1208', 'chromium_headless_shell-1300', 'ffmpeg-1011'] };
    expect(findChromium('headless', machine({ files: [older, newer], folders }))).toBe(newer);
    expect(findChromium('headless', machine({ files: [older, newer, '/usr/bin/chromium'], folders }))).toBe(
      '/usr/bin/chromium',
    );
  });

  it('prefers an installed headless shell to a complete browser, unless a complete browser is asked for', () => {
    const files = ['/usr/bin/chromium', '/usr/bin/chromium-headless-shell'];
    expect(findChromium('headless', machine({ files }))).toBe('/usr/bin/chromium-headless-shell');
    expect(findChromium('complete', machine({ files }))).toBe('/usr/bin/chromium');
    expect(findChromium('complete', machine({ files: ['/usr/bin/chromium-headless-shell'] }))).toBeUndefined();
  });

  it('prefers a headless shell among downloads of one revision, but neither to a newer nor to an installed browser', () => {
    const cache = '/home/ada/.cache/ms-playwright';
    const shell = `${cache}/chromium_headless_shell-1255/chrome-headless-shell-linux64/chrome-headless-shell`;
    const same = `${cache}/chromium-1255/chrome-linux64/chrome`;
    const newer = `${cache}/chromium-1300/chrome-linux64/chrome`;
    const folders = { [cache]: ['chromium-1255', 'chromium-1300', 'chromium_headless_shell-1255'] };
    const files = [shell, same];
    expect(findChromium('headless', machine({ files, folders }))).toBe(shell);
    expect(findChromium('complete', machine({ files, folders }))).toBe(same);
    expect(findChromium('headless', machine({ files: [...files, newer], folders }))).toBe(newer);
    expect(findChromium('headless', machine({ files: [...files, '/usr/bin/chromium'], folders }))).toBe(
      '/usr/bin/chromium',
    );
    expect([shell, '/usr/bin/chromium-headless-shell', same].map(isHeadlessShell)).toEqual([true, true, false]);
  });

  it('returns undefined if there is no Chromium', () => {
    expect(findChromium('headless', machine({}))).toBeUndefined();
  });
});
