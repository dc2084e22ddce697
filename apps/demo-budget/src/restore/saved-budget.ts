import type { SqlParam } from '@rockpool/client';
import { exportFormat } from '../export/export-json.ts';
import { exportedTables } from '../export/exported-tables.ts';
import { fail, succeed, type Result } from '../result.ts';

/** A row by column, with its stored values. */
export type SavedRow = Readonly<Record<string, SqlParam>>;

/** The contents of a saved file, by table. */
export type SavedBudget = ReadonlyMap<string, readonly SavedRow[]>;

/** Why a file cannot be opened. Contains no file contents. */
export type SavedProblem = 'not-a-budget' | 'newer-version' | 'cut-off' | 'damaged';

const sentences: Readonly<Record<SavedProblem, string>> = {
  'not-a-budget':
    'This file is not a saved budget. Choose an exported .json or .sqlite file. To add a bank statement, use Import.',
  'newer-version': 'This file was saved by a newer version of this app. Reload the page, then try again.',
  'cut-off': 'This file is incomplete, so nothing was opened. Use another copy.',
  damaged: 'This file is inconsistent, so nothing was opened. Use another copy.',
};

export function savedProblemSentence(problem: SavedProblem): string {
  return sentences[problem];
}

/** Reads an "Everything as JSON" export. Tables and columns missing from it are treated as empty. */
export function readSavedJson(text: string): Result<SavedBudget, SavedProblem> {
  if (!text.trimStart().startsWith('{')) return fail('not-a-budget');
  const saved = parsed(text);
  if (saved === undefined) return fail(text.includes(exportFormat) ? 'cut-off' : 'not-a-budget');
  if (!isObject(saved) || saved['format'] !== exportFormat || !isObject(saved['tables'])) return fail('not-a-budget');
  const tables = new Map<string, readonly SavedRow[]>();
  for (const [name, rows] of Object.entries(saved['tables'])) {
    const table = exportedTables.find((known) => known.name === name);
    if (table === undefined) return fail('newer-version');
    if (!Array.isArray(rows) || !rows.every(isRow)) return fail('damaged');
    const known = new Set(table.columns.map((column) => column.name));
    if (rows.some((row) => Object.keys(row).some((column) => !known.has(column)))) return fail('newer-version');
    tables.set(name, rows);
  }
  return succeed(tables);
}

function isRow(row: unknown): row is SavedRow {
  return (
    isObject(row) &&
    typeof row['id'] === 'string' &&
    Object.values(row).every((value) => value === null || typeof value === 'string' || typeof value === 'number')
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
