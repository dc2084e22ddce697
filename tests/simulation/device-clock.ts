import type { VirtualTime } from './virtual-time.ts';

/** The wall clock of one device. It may be wrong, stand still, run backwards or jump. */
export class DeviceClock {
  private readonly time: VirtualTime;
  private sinceMs: number;
  private shownMs: number;
  private rate = 1;

  constructor(time: VirtualTime, offsetMs: number) {
    this.time = time;
    this.sinceMs = time.nowMs;
    this.shownMs = time.nowMs + offsetMs;
  }

  nowMs(): number {
    return this.shownMs + this.rate * (this.time.nowMs - this.sinceMs);
  }

  jumpTo(offsetMs: number): void {
    this.set(this.time.nowMs + offsetMs, this.rate);
  }

  /** 1 for normal speed, 0 for frozen, -1 for backwards. */
  run(rate: number): void {
    this.set(this.nowMs(), rate);
  }

  private set(shownMs: number, rate: number): void {
    this.sinceMs = this.time.nowMs;
    this.shownMs = shownMs;
    this.rate = rate;
  }
}
