import factory from 'wa-sqlite/dist/fts5/wa-sqlite.mjs';
import { withChangedPieces } from './changed-pieces.ts';
import type { TestModule } from './test-connection.ts';

let loading: Promise<TestModule> | undefined;

/** The synchronous wa-sqlite build in a browser, loaded once for each worker. */
export function loadBrowserSqlite(): Promise<TestModule> {
  loading ??= factory().then((module) => withChangedPieces(module as TestModule));
  return loading;
}
