/** The media that browsers may have. */
export type BrowserMedium = 'opfs-shared' | 'opfs-exclusive' | 'indexeddb';

declare module 'vitest' {
  interface ProvidedContext {
    /** Which media a run expects to work in its browser. */
    usableMedia: readonly BrowserMedium[];
    /** The code with which the others are refused. */
    refusal: 'storage-unsupported' | 'storage-ephemeral';
  }
}
