// The package ships no types for the files under dist/. Both builds export the same factory; they differ in how they find their .wasm file.
declare module 'wa-sqlite/dist/fts5/wa-sqlite.mjs' {
  const createModule: (options?: object) => Promise<unknown>;
  export default createModule;
}
declare module 'wa-sqlite/dist/fts5/wa-sqlite.node.mjs' {
  const createModule: (options?: object) => Promise<unknown>;
  export default createModule;
}
