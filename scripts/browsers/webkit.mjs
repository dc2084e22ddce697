// WebKitGTK's MiniBrowser, driven by WebDriver over HTTP, on a virtual display.

import { createServer } from 'node:net';
import { startProcess } from './child-process.mjs';

/**
 * @param {{ driver: string, miniBrowser: string, xvfb: string }} programs
 * @returns {Promise<import('./firefox.mjs').DrivenBrowser>}
 */
export async function startWebKit({ driver, miniBrowser, xvfb }) {
  // Takes a free display and prints its number.
  const display = await startProcess(
    xvfb,
    ['-displayfd', '1', '-screen', '0', '1024x768x24', '-nolisten', 'tcp'],
    (output) => /^(\d+)$/m.exec(output)?.[1],
  );
  try {
    const port = await freePort();
    const root = `http://127.0.0.1:${port}`;
    const isUp = () =>
      fetch(`${root}/status`).then(
        () => true,
        () => undefined,
      );
    const server = await startProcess(driver, [`--port=${port}`, '--host=127.0.0.1'], isUp, {
      DISPLAY: `:${display.value}`,
    });
    try {
      const { sessionId, capabilities } = await call('POST', `${root}/session`, {
        capabilities: { alwaysMatch: { 'webkitgtk:browserOptions': { binary: miniBrowser, args: ['--automation'] } } },
      });
      const session = `${root}/session/${sessionId}`;
      // Generous, because loading the tests' page can be slow.
      await call('POST', `${session}/timeouts`, { pageLoad: 10 * 60_000 });
      return {
        version: `${capabilities.browserName} ${capabilities.browserVersion}`,
        async openPage(url) {
          const { handle } = await call('POST', `${session}/window/new`, { type: 'tab' });
          await call('POST', `${session}/window`, { handle });
          await call('POST', `${session}/url`, { url });
        },
        async close() {
          await call('DELETE', session).catch(() => undefined);
          await server.stop();
          await display.stop();
        },
      };
    } catch (error) {
      await server.stop();
      throw error;
    }
  } catch (error) {
    await display.stop();
    throw error;
  }
}

/**
 * @param {string} method
 * @param {string} url
 * @param {object} [body]
 * @returns {Promise<any>}
 */
async function call(method, url, body) {
  const response = await fetch(url, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const { value } = await response.json();
  if (!response.ok) throw new Error(`${method} ${new URL(url).pathname}: ${value.message ?? response.status}`);
  return value;
}

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
