import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ResultRow } from './samples.ts';
import { figureTable, verdictTable } from './tables.ts';
import { judge, type Target } from './target.ts';

/** Prints the tables and writes `results/GROUP.json`. A reduced run goes to a file of its own that is not kept: its figures must not be taken for the others. */
export function report(group: string, rows: readonly ResultRow[], targets: readonly Target[], isWhole: boolean): void {
  const verdicts = judge(targets, rows);
  console.log(`\n${verdictTable(verdicts)}\n\nMedians:\n\n${figureTable(rows)}\n`);
  const folder = join(import.meta.dirname, '../results');
  const file = join(folder, isWhole ? `${group}.json` : `${group}.tmp`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, `[\n${rows.map((row) => `  ${JSON.stringify(row)}`).join(',\n')}\n]\n`);
  console.log(`Written: ${file}`);
}
