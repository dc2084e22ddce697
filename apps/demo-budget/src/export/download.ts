/** Saves a file through the browser's download. */
export function download(fileName: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName;
  link.click();
  // The browser has started to read by the next task; one more second costs nothing.
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}
