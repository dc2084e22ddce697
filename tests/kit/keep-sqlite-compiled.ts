// Set-up of the Chromium tests. Chromium compiles a WebAssembly module once for all workers of a process, but discards
// it when the last of them ends, and most tests end all their workers. The page that outlives the test files keeps the
// modules alive: compiling SQLite took a quarter of the processor time of these tests.

interface Keeper {
  compiledSqlite?: Promise<readonly WebAssembly.Module[]>;
}

const builds = [
  new URL('../../packages/client/sqlite/wa-sqlite.wasm', import.meta.url),
  new URL('../../packages/vfs-opfs/node_modules/wa-sqlite/dist/fts5/wa-sqlite.wasm', import.meta.url),
];

const keeper = window.top as Keeper;
keeper.compiledSqlite ??= Promise.all(builds.map((build) => WebAssembly.compileStreaming(fetch(build))));
await keeper.compiledSqlite;
