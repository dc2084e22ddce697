export interface RateLimit {
  /** The number of calls that are allowed at once. */
  readonly burst: number;
  /** The number of calls per second that are allowed in the long run. */
  readonly perSecond: number;
}

/** A token bucket. */
export class Rate {
  private readonly limit: RateLimit;
  private left: number;
  private filledMs: number;

  constructor(limit: RateLimit, nowMs: number) {
    this.limit = limit;
    this.left = limit.burst;
    this.filledMs = nowMs;
  }

  /** False if over the limit. A clock that is set back adds nothing. */
  take(nowMs: number): boolean {
    const { burst, perSecond } = this.limit;
    this.left = Math.min(burst, this.left + (Math.max(0, nowMs - this.filledMs) / 1000) * perSecond);
    this.filledMs = nowMs;
    if (this.left < 1) return false;
    this.left--;
    return true;
  }
}
