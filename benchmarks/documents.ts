// `npm run bench -- documents`: a document column beside plain JSON and JSONB on the same build of SQLite and the same
// storage, in a worker in Chromium.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SIZES_KIB } from './documents/dataset.ts';
import { STORE_NAMES } from './documents/store-name.ts';
import { DOCUMENT_TARGETS } from './documents/targets.ts';
import { launchChromium } from './harness/chromium.ts';
import { buildPages, servePages } from './harness/pages.ts';
import { installPeers } from './harness/peers.ts';
import { report } from './report/report.ts';
import { Samples } from './report/samples.ts';

const { values: flags } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, rounds: { type: 'string' } },
});
const rounds = Number(flags.rounds ?? (flags.quick ? 1 : 3));

await installPeers(join(import.meta.dirname, 'storage'));
await buildPages();
const pages = await servePages();
const folder = mkdtempSync(join(tmpdir(), 'rockpool-bench-'));
const samples = new Samples();
const browser = await launchChromium(folder);
try {
  const tab = await browser.openTab(pages.urlOf('documents'));
  for (let round = 0; round < rounds; round++) {
    for (const sizeKiB of flags.quick ? SIZES_KIB.slice(0, 1) : SIZES_KIB) {
      for (const subject of STORE_NAMES) {
        console.log(`  round ${round + 1}, ${sizeKiB} KB: ${subject}`);
        for (const { test, unit, value } of await tab.bench.measureDocuments(
          subject,
          `${subject}-${sizeKiB}-${round}`,
          sizeKiB,
        )) {
          samples.add({ workload: `${sizeKiB}K-${test}`, subject, variant: '', unit, better: 'lower' }, value);
        }
      }
    }
  }
} finally {
  await browser.close();
  pages.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
report('documents', samples.rows(), DOCUMENT_TARGETS, !flags.quick && flags.rounds === undefined);
