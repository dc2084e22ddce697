// `npm run bench -- queries`: queries that read whole tables, in our build of SQLite with scans (docs/decisions/0076) and
// without, in sqlite.org's build, in native SQLite (node:sqlite) and in DuckDB-wasm. Processor time of one process in
// Node, in memory, so that a busy machine distorts it least. `--rows N`, `--rounds N`, `--quick`.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { installPeers } from './harness/peers.ts';
import { openDuckdb, openNative, openRockpool, openSqliteOrg, type Subject } from './queries/subjects.ts';
import { setupOf, targetsFor, workloadName, WORKLOADS } from './queries/workloads.ts';
import { report } from './report/report.ts';
import { Samples } from './report/samples.ts';

const { values: flags } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, rows: { type: 'string' }, rounds: { type: 'string' } },
});
const sizes = flags.rows !== undefined ? [Number(flags.rows)] : flags.quick ? [30_000] : [300_000, 1_000_000];
const rounds = Number(flags.rounds ?? (flags.quick ? 3 : 7));
const samples = new Samples();

function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

await installPeers(join(import.meta.dirname, 'queries'));
for (const rows of sizes) {
  const subjects: Subject[] = [...(await openRockpool()), await openSqliteOrg(), openNative(), await openDuckdb()];
  for (const subject of subjects) subject.setup(setupOf(subject.dialect, rows));
  for (const { name, sql, duckdb } of WORKLOADS) {
    console.log(`  ${rows.toLocaleString('en')} rows: ${name}`);
    for (let round = 0; round < rounds; round++) {
      // Each round begins with another subject.
      for (let turn = 0; turn < subjects.length; turn++) {
        const subject = subjects[(round + turn) % subjects.length] as Subject;
        const query = subject.dialect === 'duckdb' ? (duckdb === undefined ? sql : duckdb) : sql;
        if (query === null) continue;
        const ms = cpuMs(() => subject.run(query));
        const isFirst = round === 0;
        const variant = [subject.variant, isFirst ? 'first run' : ''].filter((part) => part !== '').join(', ');
        samples.add(
          { workload: workloadName(rows, name), subject: subject.subject, variant, unit: 'ms', better: 'lower' },
          ms,
        );
      }
    }
  }
  for (const subject of subjects) subject.close();
}
report(
  'queries',
  samples.rows(),
  targetsFor(sizes),
  !flags.quick && flags.rows === undefined && flags.rounds === undefined,
);
