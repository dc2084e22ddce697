/** A token bucket: allows `frameBurst` frames at once, and `framesPerSecond` in the long run. */
export class FrameRate {
  private readonly burst: number;
  private readonly perSecond: number;
  private left: number;
  private filledMs: number;

  constructor(
    { frameBurst, framesPerSecond }: { readonly frameBurst: number; readonly framesPerSecond: number },
    nowMs: number,
  ) {
    this.burst = frameBurst;
    this.perSecond = framesPerSecond;
    this.left = frameBurst;
    this.filledMs = nowMs;
  }

  /** False if over the limit. A clock that is set back adds nothing. */
  take(nowMs: number): boolean {
    this.left = Math.min(this.burst, this.left + (Math.max(0, nowMs - this.filledMs) / 1000) * this.perSecond);
    this.filledMs = nowMs;
    if (this.left < 1) return false;
    this.left--;
    return true;
  }
}
