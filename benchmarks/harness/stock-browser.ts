import { ensureStockBrowsers } from '../../scripts/browsers/ensure-stock-browsers.mjs';
import { findStockBrowsers } from '../../scripts/browsers/find-stock-browsers.mjs';
import { startFirefox } from '../../scripts/browsers/firefox.mjs';
import { startWebKit } from '../../scripts/browsers/webkit.mjs';
import { benchTab, type BenchBrowser } from './browser.ts';
import type { CommandMailbox } from './command-mailbox.ts';

/** A stock Firefox or WebKitGTK's MiniBrowser, with a new profile that is removed on close. */
export async function launchStockBrowser(name: 'firefox' | 'webkit', mailbox: CommandMailbox): Promise<BenchBrowser> {
  await ensureStockBrowsers();
  const programs = findStockBrowsers();
  const browser = name === 'firefox' ? await startFirefox(programs.firefox) : await startWebKit(programs.webkit);
  let pages = 0;
  return {
    async openTab(url) {
      pages += 1;
      const pageId = `${name}-${pages}`;
      await browser.openPage(`${url}?obey=${pageId}`);
      return benchTab(
        (command, args) => mailbox.call(pageId, command, args),
        () => mailbox.call(pageId, 'leave', []),
      );
    },
    close: () => browser.close(),
  };
}
