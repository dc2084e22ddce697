/** The media that a browser may support. */
export type BrowserMedium = 'opfs-shared' | 'opfs-exclusive' | 'indexeddb';

declare module 'vitest' {
  interface ProvidedContext {
    /** The media that this run expects to work in its browser. */
    usableMedia: readonly BrowserMedium[];
    /** The code that the other media fail with. */
    refusal: 'storage-unsupported' | 'storage-ephemeral';
  }
}
