// A stock Firefox with its own profile, driven by WebDriver BiDi: a WebSocket on loopback with one JSON message per
// command.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProcess } from './child-process.mjs';

/** Prevents first-run network requests and dialogs. */
const quietPreferences = {
  'app.update.enabled': false,
  'browser.aboutwelcome.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'datareporting.policy.firstRunURL': '',
  'network.captive-portal-service.enabled': false,
  'toolkit.telemetry.reportingpolicy.firstRun': false,
};

/**
 * @typedef {object} DrivenBrowser
 * @property {string} version
 * @property {(url: string) => Promise<void>} openPage in a new tab
 * @property {() => Promise<void>} close ends the browser
 */

/**
 * @typedef {object} FirefoxOptions
 * @property {Record<string, boolean | string>} [preferences]
 * @property {string} [profile] a folder to keep; default: a new one, removed on close
 */

/**
 * @param {string} program
 * @param {FirefoxOptions} [options]
 * @returns {Promise<DrivenBrowser & { kill: () => Promise<void> }>}
 */
export async function startFirefox(program, { preferences = {}, profile: keptProfile } = {}) {
  const profile = keptProfile ?? mkdtempSync(join(tmpdir(), 'rockpool-firefox-'));
  const lines = Object.entries({ ...quietPreferences, ...preferences }).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
  );
  writeFileSync(join(profile, 'user.js'), lines.join('\n'));
  const removeProfile = () => {
    if (keptProfile === undefined) rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const firefox = await startProcess(
      program,
      ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0', 'about:blank'],
      (output) => /WebDriver BiDi listening on (ws:\S+)/.exec(output)?.[1],
    );
    const bidi = await connect(`${firefox.value}/session`);
    const session = await bidi.send('session.new', { capabilities: {} });
    return {
      version: `${session.capabilities.browserName} ${session.capabilities.browserVersion}`,
      async openPage(url) {
        const { context } = await bidi.send('browsingContext.create', { type: 'tab' });
        await bidi.send('browsingContext.navigate', { context, url, wait: 'none' });
      },
      kill: () => firefox.kill(),
      async close() {
        bidi.close();
        await firefox.stop();
        removeProfile();
      },
    };
  } catch (error) {
    removeProfile();
    throw error;
  }
}

/** @param {string} url */
async function connect(url) {
  const socket = new WebSocket(url);
  /** @type {Map<number, (message: any) => void>} */
  const waiting = new Map();
  let count = 0;
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(data);
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true });
    socket.addEventListener('error', () => reject(new Error(`Firefox does not answer at ${url}`)), { once: true });
  });
  return {
    /**
     * @param {string} method
     * @param {object} params
     * @returns {Promise<any>}
     */
    send(method, params) {
      count += 1;
      const id = count;
      socket.send(JSON.stringify({ id, method, params }));
      return new Promise((resolve, reject) => {
        waiting.set(id, (message) =>
          message.type === 'error' ? reject(new Error(`${method}: ${message.message}`)) : resolve(message.result),
        );
      });
    },
    close: () => socket.close(),
  };
}
