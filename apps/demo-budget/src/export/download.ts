/** Saves a file through the browser's download. */
export function download(fileName: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName;
  link.click();
  // The browser starts to read the file before the next task, so one second is more than enough.
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}
