import factory from 'wa-sqlite/dist/fts5/wa-sqlite.node.mjs';
import { withChangedPieces } from './changed-pieces.ts';
import type { TestModule } from './test-connection.ts';

let loading: Promise<TestModule> | undefined;

/** A new module, as another worker would have. */
export async function newNodeSqlite(): Promise<TestModule> {
  return withChangedPieces((await factory()) as TestModule);
}

/** The synchronous wa-sqlite build in Node, loaded once for all tests of a file. */
export function loadNodeSqlite(): Promise<TestModule> {
  loading ??= newNodeSqlite();
  return loading;
}
