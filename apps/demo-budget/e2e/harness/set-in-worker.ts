import type { Page } from 'playwright/test';

/**
 * Sends a value to the script of a page's worker, and resolves when the worker has replied that it uses it. The script
 * receives `{ set: value }` on a BroadcastChannel with this name, and replies `{ done: value }`.
 */
export async function setInWorker(page: Page, channelName: string, value: string | number): Promise<void> {
  await page.evaluate(
    async ([name, set]) =>
      await new Promise<void>((resolve) => {
        const channel = new BroadcastChannel(name);
        channel.addEventListener('message', ({ data }: MessageEvent<{ readonly done?: string | number }>) => {
          if (data.done !== set) return;
          channel.close();
          resolve();
        });
        channel.postMessage({ set });
      }),
    [channelName, value] as const,
  );
}
