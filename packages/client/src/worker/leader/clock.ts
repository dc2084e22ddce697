/** Time as a dependency. */
export interface Clock {
  /** Wall time in ms; all tabs of a device share it. */
  nowMs(): number;
  /** Monotonic time of this thread in ms, independent of the wall clock. */
  elapsedMs(): number;
  /** Calls once after `delayMs`, unless the returned function is called first. */
  after(delayMs: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  elapsedMs: () => performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
