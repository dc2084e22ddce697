/** How far a snapshot's file has come, in bytes as they travel. */
export interface SnapshotProgress {
  readonly receivedBytes: number;
  readonly totalBytes: number;
}
