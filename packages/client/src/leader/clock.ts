/** Time, as an argument. */
export interface Clock {
  /** Wall time in ms; all tabs of a device share it. */
  nowMs(): number;
  /** Calls once after that time, unless the returned function is called before. */
  after(delayMs: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
