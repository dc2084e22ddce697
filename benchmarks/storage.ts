// `npm run bench -- storage`: the storage beside its peers, in Chromium.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildPages, servePages } from './harness/pages.ts';
import { installPeers } from './harness/peers.ts';
import { report } from './report/report.ts';
import { Samples } from './report/samples.ts';
import { FULL_SIZES, QUICK_SIZES } from './storage/dataset.ts';
import { StorageRun } from './storage/run.ts';
import { FILE_SUBJECTS, INDEXEDDB_SUBJECTS, slugOf } from './storage/subjects.ts';
import { TARGETS } from './storage/targets.ts';
import { FILE_PLAN, INDEXEDDB_PLAN } from './storage/workloads.ts';

const { values: flags } = parseArgs({
  options: {
    /** A tenth of the data and one round: shows that everything runs; its figures mean nothing. */
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    /** Names with commas between, as they appear while it runs. */
    subjects: { type: 'string' },
    workloads: { type: 'string' },
  },
});

const wanted = flags.subjects?.split(',');
const isWhole = !flags.quick && wanted === undefined && flags.workloads === undefined;

await installPeers(join(import.meta.dirname, 'storage'));
await buildPages();
const pages = await servePages();
const folder = mkdtempSync(join(tmpdir(), 'rockpool-bench-'));
const samples = new Samples();
try {
  for (const { plan, subjects } of [
    { plan: FILE_PLAN, subjects: FILE_SUBJECTS },
    { plan: INDEXEDDB_PLAN, subjects: INDEXEDDB_SUBJECTS },
  ]) {
    await new StorageRun(
      {
        plan,
        subjects: subjects.filter((subject) => wanted?.includes(slugOf(subject)) ?? true),
        sizes: flags.quick ? QUICK_SIZES : FULL_SIZES,
        rounds: Number(flags.rounds ?? (flags.quick ? 1 : 3)),
        workloads: flags.workloads === undefined ? undefined : new Set(flags.workloads.split(',')),
        folder: join(folder, plan.prefix === '' ? 'files' : 'indexeddb'),
        urlOf: pages.urlOf,
      },
      samples,
    ).run();
  }
} finally {
  pages.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
report('storage', samples.rows(), TARGETS, isWhole);
