// `npm run bench -- documents`: a document column compared with plain JSON and JSONB on the same build of SQLite and
// the same storage, in a worker in Chromium; and, in Node, an editing trace that is replayed by two devices, and the
// versions of a document in its history. `--trace FILE` replays a public trace, and nothing else.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SIZES_KIB } from './documents/dataset.ts';
import { STORE_NAMES } from './documents/store-name.ts';
import { measureReplay, replayTargets, traceFrom, typedTrace, WHEN } from './documents/replay-trace.ts';
import { DOCUMENT_TARGETS } from './documents/targets.ts';
import { measureVersions, versionTargets } from './documents/versions.ts';
import { launchChromium } from './harness/chromium.ts';
import { buildPages, servePages } from './harness/pages.ts';
import { installPeers } from './harness/peers.ts';
import { report } from './report/report.ts';
import { Samples } from './report/samples.ts';

const { values: flags } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, rounds: { type: 'string' }, trace: { type: 'string' } },
});
const rounds = Number(flags.rounds ?? (flags.quick ? 1 : 3));
const trace = flags.trace === undefined ? typedTrace(flags.quick) : traceFrom(flags.trace);
const samples = new Samples();
for (let round = 0; round < rounds; round++) {
  for (const when of WHEN) {
    console.log(`  round ${round + 1}, ${trace.name}, ${when}`);
    for (const { workload, unit, value } of await measureReplay(trace, when))
      samples.add({ workload, subject: 'rockpool', variant: '', unit, better: 'lower' }, value);
  }
}
if (flags.trace !== undefined) {
  report('documents', samples.rows(), replayTargets(trace), false);
  process.exit();
}

const versions = flags.quick ? 100 : 1000;
console.log(`  ${versions} versions`);
for (const { workload, unit, value } of await measureVersions(versions))
  samples.add({ workload, subject: 'rockpool', variant: '', unit, better: 'lower' }, value);

await installPeers(join(import.meta.dirname, 'storage'));
await buildPages();
const pages = await servePages();
const folder = mkdtempSync(join(tmpdir(), 'rockpool-bench-'));
const browser = await launchChromium(folder);
try {
  const tab = await browser.openTab(pages.urlOf('documents'));
  for (let round = 0; round < rounds; round++) {
    for (const sizeKiB of flags.quick ? SIZES_KIB.slice(0, 1) : SIZES_KIB) {
      for (const subject of STORE_NAMES) {
        console.log(`  round ${round + 1}, ${sizeKiB} KB: ${subject}`);
        for (const { test, unit, value } of await tab.bench.measureDocuments(
          subject,
          `${STORE_NAMES.indexOf(subject)}-${sizeKiB}-${round}`,
          sizeKiB,
        )) {
          const isBinary = subject === 'rockpool (binary)';
          samples.add(
            {
              workload: `${sizeKiB}K-${test}`,
              subject: isBinary ? 'rockpool' : subject,
              variant: isBinary ? 'binary' : '',
              unit,
              better: 'lower',
            },
            value,
          );
        }
      }
    }
  }
} finally {
  await browser.close();
  pages.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
report(
  'documents',
  samples.rows(),
  [...DOCUMENT_TARGETS, ...versionTargets(versions), ...replayTargets(trace)],
  !flags.quick && flags.rounds === undefined,
);
