// The package declares its types under a name that differs from its install name. These are the parts that the example
// uses.
declare module 'wa-sqlite' {
  export function Factory(module: import('@rockpool/vfs-opfs').SqliteModule): {
    open_v2(path: string, flags: number | undefined, vfsName: string): Promise<number>;
    exec(db: number, sql: string, onRow?: (row: (number | string | Uint8Array | null)[]) => void): number;
  };
}
declare module 'wa-sqlite/dist/fts5/wa-sqlite.mjs' {
  const load: () => Promise<import('@rockpool/vfs-opfs').SqliteModule>;
  export default load;
}
