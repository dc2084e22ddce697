/** A size for people: "0.4 MB", "12 MB", "1.5 GB". */
export function megabytes(bytes: number): string {
  const mb = bytes / 1_048_576;
  if (mb >= 1_024) return `${(mb / 1_024).toFixed(1)} GB`;
  return mb < 10 ? `${mb.toFixed(1)} MB` : `${Math.round(mb)} MB`;
}
