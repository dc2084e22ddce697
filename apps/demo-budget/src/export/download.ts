/** Hands a file to the browser, which keeps it where it keeps downloads. */
export function download(fileName: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName;
  link.click();
  // The browser has begun to read by the next turn; a second more costs nothing.
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}
