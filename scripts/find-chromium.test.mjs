import { describe, expect, it } from 'vitest';
import { findChromium } from './find-chromium.mjs';

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
    expect(findChromium(machine({ files, env: { ROCKPOOL_CHROMIUM: '/opt/mine/chrome' } }))).toBe('/opt/mine/chrome');
  });

  it('throws if ROCKPOOL_CHROMIUM names no executable, even if another Chromium exists', () => {
    const asked = machine({ files: ['/usr/bin/chromium'], env: { ROCKPOOL_CHROMIUM: '/opt/gone/chrome' } });
    expect(() => findChromium(asked)).toThrow('/opt/gone/chrome');
  });

  it('prefers the PATH to the usual places, and Chromium to Chrome', () => {
    const files = ['/usr/bin/google-chrome', '/home/ada/bin/google-chrome', '/home/ada/bin/chromium'];
    expect(findChromium(machine({ files, env: { PATH: '/home/ada/bin:/usr/bin' } }))).toBe('/home/ada/bin/chromium');
    expect(findChromium(machine({ files, env: { PATH: '/nothing/here' } }))).toBe('/usr/bin/google-chrome');
  });

  it('looks into /Applications on macOS', () => {
    const chrome = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';
    expect(findChromium(machine({ files: [chrome], platform: 'darwin' }))).toBe(chrome);
    expect(findChromium(machine({ files: [chrome], platform: 'linux' }))).toBeUndefined();
  });

  it("falls back to the newest of Playwright's downloads", () => {
    const cache = '/home/ada/.cache/ms-playwright';
    const older = `${cache}/chromium-999/chrome-linux/chrome`;
    const newer = `${cache}/chromium-1208/chrome-linux64/chrome`;
    const folders = { [cache]: ['chromium-999', 'chromium-1208', 'chromium_headless_shell-1300', 'ffmpeg-1011'] };
    expect(findChromium(machine({ files: [older, newer], folders }))).toBe(newer);
    expect(findChromium(machine({ files: [older, newer, '/usr/bin/chromium'], folders }))).toBe('/usr/bin/chromium');
  });

  it('returns undefined if there is no Chromium', () => {
    expect(findChromium(machine({}))).toBeUndefined();
  });
});
