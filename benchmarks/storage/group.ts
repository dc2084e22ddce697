import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildPages, servePages } from '../harness/pages.ts';
import { launchStockBrowser } from '../harness/stock-browser.ts';
import { launchChromium } from '../harness/chromium.ts';
import { installPeers } from '../harness/peers.ts';
import { report } from '../report/report.ts';
import { Samples } from '../report/samples.ts';
import type { Target } from '../report/target.ts';
import { FULL_SIZES, QUICK_SIZES } from './dataset.ts';
import { StorageRun } from './run.ts';
import { slugOf, type Subject } from './subjects.ts';
import type { Plan } from './workloads.ts';

export interface Part {
  readonly plan: Plan;
  readonly subjects: readonly Subject[];
  readonly browser: 'chromium' | 'firefox' | 'webkit';
}

/** Runs a group in the browser as the command line asks, prints its tables and writes its results. */
export async function runGroup(group: string, parts: readonly Part[], targets: readonly Target[]): Promise<void> {
  const { values: flags } = parseArgs({
    options: {
      /** A tenth of the data and one round: shows that everything runs; its figures mean nothing. */
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      /** Comma-separated names, as the run prints them. */
      subjects: { type: 'string' },
      workloads: { type: 'string' },
    },
  });
  const wantedSubjects = flags.subjects?.split(',');
  const workloads = flags.workloads === undefined ? undefined : new Set(flags.workloads.split(','));

  await installPeers(import.meta.dirname);
  await buildPages();
  const pages = await servePages();
  const folder = mkdtempSync(join(tmpdir(), 'rockpool-bench-'));
  const samples = new Samples();
  let isWhole =
    !flags.quick && flags.rounds === undefined && flags.subjects === undefined && flags.workloads === undefined;
  try {
    for (const [index, { plan, subjects, browser }] of parts.entries()) {
      const ownFolder = join(folder, String(index));
      const run = new StorageRun(
        {
          plan,
          subjects: subjects.filter((subject) => wantedSubjects?.includes(slugOf(subject)) ?? true),
          sizes: flags.quick ? QUICK_SIZES : FULL_SIZES,
          rounds: Number(flags.rounds ?? (flags.quick ? 1 : plan.rounds)),
          workloads,
          folder: ownFolder,
          launch: () =>
            browser === 'chromium'
              ? launchChromium(join(ownFolder, 'profile'))
              : launchStockBrowser(browser, pages.mailbox),
          restartsBrowser: browser === 'chromium',
          urlOf: pages.urlOf,
        },
        samples,
      );
      // A browser that is unavailable here must not discard the figures of the others, nor its own earlier figures.
      await run.run().catch((error: unknown) => {
        isWhole = false;
        console.log(`  ${browser}: ${error instanceof Error ? error.message : String(error)}`);
      });
    }
  } finally {
    pages.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
  report(group, samples.rows(), targets, isWhole);
}
