/** The parts of a `wa-sqlite` module (the object that its factory resolves to) that this package uses. */
export interface SqliteModule {
  /** Replaced whenever the memory grows, so read it again on every use. */
  readonly HEAPU8: Uint8Array;
  readonly HEAP32: Int32Array;
  UTF8ToString(pointer: number): string;
  stringToUTF8(text: string, pointer: number, sizeBytes: number): void;
  lengthBytesUTF8(text: string): number;
  _sqlite3_malloc(sizeBytes: number): number;
  _sqlite3_free(pointer: number): void;
  /**
   * Compares `count` pieces of `pieceBytes` at two addresses, at most 32. Bit i of the result is set if piece i
   * differs. A build without it logs whole pages.
   */
  _rockpool_changed_pieces?(pointer: number, otherPointer: number, pieceBytes: number, count: number): number;
  _sqlite3_vfs_find(namePointer: number): number;
  vfs_register(vfs: object, makeDefault: boolean): number;
  setCallback(key: number, target: unknown): void;
}
