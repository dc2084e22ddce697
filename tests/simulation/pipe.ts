import type { VirtualTime } from './virtual-time.ts';

interface Item {
  readonly dueMs: number;
  readonly deliver: () => void;
}

/**
 * One direction of a connection. Data arrives in order and complete after a delay, or never if the connection is cut.
 */
export class Pipe {
  private readonly time: VirtualTime;
  private readonly latencyMs: () => number;
  private readonly items: Item[] = [];
  private isHeld = false;
  private isCut = false;
  private cancelTimer: (() => void) | null = null;

  constructor(time: VirtualTime, latencyMs: () => number) {
    this.time = time;
    this.latencyMs = latencyMs;
  }

  send(deliver: () => void): void {
    if (this.isCut) return;
    const dueMs = Math.max(this.items.at(-1)?.dueMs ?? 0, this.time.nowMs + this.latencyMs());
    this.items.push({ dueMs, deliver });
    this.schedule();
  }

  /** A partition, or a reader that does not read: nothing arrives until it ends, then everything does. */
  hold(isHeld: boolean): void {
    this.isHeld = isHeld;
    this.schedule();
  }

  /** Drops everything in flight and everything sent later. Returns how much was in flight. */
  cut(): number {
    this.isCut = true;
    this.cancelTimer?.();
    this.cancelTimer = null;
    return this.items.splice(0).length;
  }

  private schedule(): void {
    const [first] = this.items;
    if (this.isHeld || this.isCut || first === undefined || this.cancelTimer !== null) return;
    this.cancelTimer = this.time.after(first.dueMs - this.time.nowMs, () => {
      this.cancelTimer = null;
      while (!this.isHeld && !this.isCut && this.items[0] !== undefined && this.items[0].dueMs <= this.time.nowMs)
        this.items.shift()?.deliver();
      this.schedule();
    });
  }
}
