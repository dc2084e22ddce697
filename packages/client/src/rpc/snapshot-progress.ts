/** The progress of a snapshot download, in bytes on the wire. */
export interface SnapshotProgress {
  readonly receivedBytes: number;
  readonly totalBytes: number;
}
