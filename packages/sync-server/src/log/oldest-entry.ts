/**
 * When the oldest entry of a log may have to be removed. Every commit asks for this time. It is nearly always in the
 * future, and needs no query until then.
 */
export class OldestEntry {
  private askedMs = 0;
  /** Null if unknown; Infinity if there was no entry at `askedMs`. */
  private receivedMs: number | null = null;

  /** Whether an entry received before `beforeMs` may exist. All entries since the last check were received after it. */
  mayBeBefore(beforeMs: number, nowMs: number): boolean {
    // Discards the last check if the clock was set back, because the check does not show when later entries were
    // received.
    if (nowMs < this.askedMs) this.forget();
    return this.receivedMs === null || Math.min(this.receivedMs, this.askedMs) < beforeMs;
  }

  /** The oldest entry as just read, or null if there is none. */
  note(receivedMs: number | null, nowMs: number): void {
    this.receivedMs = receivedMs ?? Number.POSITIVE_INFINITY;
    this.askedMs = nowMs;
  }

  /** Call it after another writer added entries, or after a transaction was rolled back. */
  forget(): void {
    this.receivedMs = null;
  }
}

/**
 * The entries before the first one that has not expired. An entry behind it may have an earlier time, which was written
 * while the clock was behind, and must not count for those before it.
 */
export function leadingExpired<Entry extends { readonly receivedMs: number }>(
  entries: readonly Entry[],
  beforeMs: number,
): readonly Entry[] {
  const kept = entries.findIndex(({ receivedMs }) => receivedMs >= beforeMs);
  return kept === -1 ? entries : entries.slice(0, kept);
}
