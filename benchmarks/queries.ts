// `npm run bench -- queries`: queries that read whole tables, in our build of SQLite with scans (docs/decisions/0076)
// and without, in sqlite.org's build, in native SQLite (node:sqlite) and in DuckDB-wasm. Processor time of one process
// in Node, in memory, so that a busy machine distorts it least. `--rows N`, `--rounds N`, `--quick`.
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
      // Each round begins with a different subject. Every other round takes the subjects in reverse order, because the
      // second of the two subjects that share a database finds it in the processor's caches.
      const count = subjects.length;
      for (let turn = 0; turn < count; turn++) {
        const subject = subjects[(round + (round % 2 === 0 ? turn : count - turn)) % count] as Subject;
        const query = subject.dialect === 'duckdb' ? (duckdb === undefined ? sql : duckdb) : sql;
        if (query === null) continue;
        const add = (run: string, ms: number): void =>
          samples.add(
            {
              workload: workloadName(rows, name),
              subject: subject.subject,
              variant: [subject.variant, run].filter((part) => part !== '').join(', '),
              unit: 'ms',
              better: 'lower',
            },
            ms,
          );
        if (round === 0) subject.run(query);
        // Added spaces make the text a new statement, which SQLite has to prepare.
        add(
          'first run',
          cpuMs(() => subject.run(`${query}${'  '.repeat(round + 1)}`)),
        );
        add(
          '',
          cpuMs(() => subject.run(query)),
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
