/** The bytes received so far of the snapshot that has this ETag. */
export interface PartialDownload {
  parts: Uint8Array<ArrayBuffer>[];
  receivedBytes: number;
  etag: string;
}

export function emptyPartial(): PartialDownload {
  return { parts: [], receivedBytes: 0, etag: '' };
}
