import type { Client } from '../src/client.ts';
import type { ClientOptions } from '../src/interface/client-options.ts';
import { newId } from '../src/new-id.ts';
import type { TabWindow } from './tab-page.ts';

/** A client in a page of its own, as in another tab of the same browser. */
export interface BrowserTab {
  readonly client: Client;
  readonly window: Window;
  /** Removes the page without any event. Its worker ends at once. */
  kill(): void;
}

export async function openTab(options: ClientOptions): Promise<BrowserTab> {
  const frame = document.createElement('iframe');
  frame.src = new URL('./tab-page.html', import.meta.url).href;
  const loaded = new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
  document.body.append(frame);
  await loaded;
  const window = frame.contentWindow as TabWindow | null;
  if (window?.createClient === undefined) throw new Error('the page of the tab did not load');
  return { client: await window.createClient(options), window, kill: () => frame.remove() };
}

export function freshName(): string {
  return `test-${newId()}`;
}

/** Waits until a condition holds. Throws after three minutes, naming the condition. */
export async function until(isSo: () => boolean | Promise<boolean>, withinMs = 180_000): Promise<void> {
  const startedMs = performance.now();
  while (!(await isSo())) {
    if (performance.now() - startedMs > withinMs)
      throw new Error(`the condition is still false after ${withinMs} ms: ${String(isSo)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
