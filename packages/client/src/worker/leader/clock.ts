/** Time, as an argument. */
export interface Clock {
  /** Wall time in ms; all tabs of a device share it. */
  nowMs(): number;
  /** Time that passes in this thread, in ms from any moment on, whatever is done to the wall clock. */
  elapsedMs(): number;
  /** Calls once after that time, unless the returned function is called before. */
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
