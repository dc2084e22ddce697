import type { Page } from 'playwright/test';
import { setInWorker } from './set-in-worker.ts';

/**
 * Scripts that make a browser's storage fail. They are prepended to every script of the app. The faults are simulated
 * because Chromium does not produce them on request: a private window of Firefox refuses files, and programs outside
 * the browser lock them.
 */

/** As in a private window of Firefox: the file API exists but denies this page access. */
export const refusedStorage = `navigator.storage.getDirectory = () => Promise.reject(new DOMException('', 'SecurityError'));
`;

const channelName = 'storage-faults';

/** Storage that `setStorage` can take away and restore while pages run. */
export const changeableStorage = `if (globalThis.FileSystemSyncAccessHandle !== undefined && globalThis.storageFault === undefined) {
  globalThis.storageFault = 'none';
  const channel = new BroadcastChannel('${channelName}');
  channel.onmessage = ({ data }) => {
    if (data.set === undefined) return;
    globalThis.storageFault = data.set;
    channel.postMessage({ done: data.set });
  };
  const { write } = FileSystemSyncAccessHandle.prototype;
  // When the quota is exceeded, Chromium writes nothing and returns 4294967288.
  FileSystemSyncAccessHandle.prototype.write = function (...given) {
    return globalThis.storageFault === 'full' ? 4294967288 : write.apply(this, given);
  };
}
`;

/** Resolves when the page's worker has switched storage on or off. */
export async function setStorage(page: Page, fault: 'full' | 'none'): Promise<void> {
  await setInWorker(page, channelName, fault);
}

/**
 * Locks every file of an origin, as another program would, from a new tab that does not show the app. Resolves to a
 * function that releases them.
 */
export async function holdFiles(page: Page, origin: string): Promise<() => Promise<void>> {
  // The server's content security policy allows only the app's scripts.
  await (await page.context().newCDPSession(page)).send('Page.setBypassCSP', { enabled: true });
  await page.goto(new URL('icon.svg', origin).href);
  const held = await page.evaluateHandle(async () => {
    const source = `onmessage = async () => {
      const handles = [];
      // A worker of the previous page may still be shutting down, and holds its files until it ends.
      const open = async (file) => {
        for (;;) {
          try {
            return await file.createSyncAccessHandle();
          } catch (error) {
            if (error.name !== 'NoModificationAllowedError') throw error;
            await new Promise((resolve) => setTimeout(resolve));
          }
        }
      };
      const hold = async (folder) => {
        for await (const entry of folder.values()) {
          if (entry.kind === 'directory') await hold(entry);
          else handles.push(await open(entry));
        }
      };
      await hold(await navigator.storage.getDirectory());
      postMessage(handles.length);
    }`;
    const worker = new Worker(URL.createObjectURL(new Blob([source])));
    const heldCount = await new Promise<number>((resolve, reject) => {
      worker.addEventListener('message', ({ data }: MessageEvent<number>) => resolve(data));
      worker.addEventListener('error', ({ message }) => reject(new Error(message)));
      worker.postMessage(null);
    });
    if (heldCount === 0) throw new Error('The origin has no files to lock');
    return worker;
  });
  return async () => await held.evaluate((worker) => worker.terminate());
}
