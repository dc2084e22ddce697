import factory from 'wa-sqlite/dist/fts5/wa-sqlite.node.mjs';
import type { TestModule } from './test-connection.ts';

let loading: Promise<TestModule> | undefined;

/** A new module, as another worker would have. */
export function newNodeSqlite(): Promise<TestModule> {
  return factory() as Promise<TestModule>;
}

/** The synchronous wa-sqlite build in Node, loaded once for all tests of a file. */
export function loadNodeSqlite(): Promise<TestModule> {
  loading ??= newNodeSqlite();
  return loading;
}
