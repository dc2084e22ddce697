// `npm run bench -- sync`: Rockpool's server and the sync of its client compared with other engines, in Node, over
// loopback.
import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { installPeers } from './harness/peers.ts';
import { report } from './report/report.ts';
import { Samples } from './report/samples.ts';
import { OURS } from './report/target.ts';
import { buildServer } from './sync/build-server.ts';
import { SYNC_SUBJECTS } from './sync/engines.ts';
import { syncTargets } from './sync/targets.ts';
import { FULL_SIZES, QUICK_SIZES, quantile } from './sync/workload.ts';
import { backlog } from './sync/workloads/backlog.ts';
import { fanOut, fanOutToReceivers } from './sync/workloads/fan-out.ts';
import { firstSync } from './sync/workloads/first-sync.ts';
import { propagation, propagationAmongMany } from './sync/workloads/propagation.ts';

const { values: flags } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, subjects: { type: 'string' }, workloads: { type: 'string' } },
});
const wantedSubjects = flags.subjects?.split(',');
const wantedWorkloads = flags.workloads?.split(',');
const sizes = flags.quick ? QUICK_SIZES : FULL_SIZES;

/** Time limit of peers in one workload: they begin no further round after it. Our engine takes part in all rounds. */
const ROUNDS_OF_PEERS_MS = 45_000;
/** Time limit of peers in the whole run, which is to take twelve minutes at most. */
const PEERS_MS = 10.5 * 60_000;

await installPeers(join(import.meta.dirname, 'sync'));
await buildServer();
const samples = new Samples();
const fsyncMs = measureFsync();
samples.add({ workload: 'fsync', subject: 'floor', variant: '', unit: 'ms', better: 'lower' }, fsyncMs);

const beganMs = performance.now();
const subjects = SYNC_SUBJECTS.filter(({ name }) => wantedSubjects?.includes(name.toLowerCase()) ?? true);
for (const workload of [propagation, backlog, firstSync, propagationAmongMany, fanOut, fanOutToReceivers]) {
  if (wantedWorkloads?.includes(workload.id) === false) continue;
  const workloadBeganMs = performance.now();
  // Subjects take turns, so that other load on the machine affects all alike.
  for (let round = 0; round < (flags.quick ? 1 : workload.rounds); round++) {
    const isFurther = round > 0 && performance.now() - workloadBeganMs > ROUNDS_OF_PEERS_MS;
    for (const subject of subjects) {
      if (subject.lacks?.[workload.id] !== undefined) continue;
      if (subject.name !== OURS && (isFurther || performance.now() - beganMs > PEERS_MS)) {
        console.log(`  ${workload.id} ${subject.name}: no time for another round`);
        continue;
      }
      try {
        for (const [id, value, unit] of await workload.run(subject, sizes)) {
          samples.add({ workload: id, subject: subject.name, variant: subject.variant, unit, better: 'lower' }, value);
          console.log(`  ${id} ${subject.name}: ${Number(value.toPrecision(3))} ${unit}`);
        }
      } catch (error) {
        console.log(`  ${workload.id} ${subject.name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  }
}
report(
  'sync',
  samples.rows(),
  syncTargets(fsyncMs),
  !flags.quick && wantedSubjects === undefined && wantedWorkloads === undefined,
);

/** Median of writing 4 KB and waiting for the disk: what an acknowledgement that promises durability costs at least. */
function measureFsync(): number {
  const folder = mkdtempSync(join(tmpdir(), 'rockpool-bench-fsync-'));
  const file = openSync(join(folder, 'file'), 'w');
  const page = new Uint8Array(4096);
  const latenciesMs = Array.from({ length: 100 }, () => {
    const startMs = performance.now();
    writeSync(file, page);
    fsyncSync(file);
    return performance.now() - startMs;
  });
  closeSync(file);
  rmSync(folder, { recursive: true });
  return quantile(latenciesMs, 0.5);
}
