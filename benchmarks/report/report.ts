import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ResultRow } from './samples.ts';
import { figureTables, verdictTable, withTables } from './tables.ts';
import { judge, type Target } from './target.ts';

const DOCUMENT = join(import.meta.dirname, '../../docs/benchmarks.md');

/**
 * Prints the tables, writes `results/GROUP.json`, and puts the tables into docs/benchmarks.md. A reduced run goes to a
 * file of its own that is not kept: its figures must not be confused with the others.
 */
export function report(group: string, rows: readonly ResultRow[], targets: readonly Target[], isWhole: boolean): void {
  const verdicts = judge(targets, rows);
  const tables = `${verdictTable(verdicts)}\n\nMedians:\n\n${figureTables(rows)}`;
  console.log(`\n${tables}\n`);
  const folder = join(import.meta.dirname, '../results');
  const file = join(folder, isWhole ? `${group}.json` : `${group}.tmp`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, `${JSON.stringify(rows, null, 2)}\n`);
  console.log(`Written: ${file}`);
  if (isWhole) writeFileSync(DOCUMENT, withTables(readFileSync(DOCUMENT, 'utf8'), group, tables));
  else console.log(`A reduced run: the results of ${group} and docs/benchmarks.md stay as they were.`);
}
