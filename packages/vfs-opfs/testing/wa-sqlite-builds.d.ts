// The builds come without types. These are the two that Rockpool uses.
declare module 'wa-sqlite/dist/fts5/wa-sqlite.node.mjs' {
  const factory: () => Promise<unknown>;
  export default factory;
}
declare module 'wa-sqlite/dist/fts5/wa-sqlite.mjs' {
  const factory: () => Promise<unknown>;
  export default factory;
}
