/** The part of the snapshot with this ETag that has arrived. */
export interface PartialDownload {
  parts: Uint8Array<ArrayBuffer>[];
  receivedBytes: number;
  etag: string;
}

export function emptyPartial(): PartialDownload {
  return { parts: [], receivedBytes: 0, etag: '' };
}
