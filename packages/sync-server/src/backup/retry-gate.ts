import type { RockpoolError } from '@rockpool/shared';

const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 60_000;

/** A failure of the destination: since when, why, and when the next attempt is. */
export interface Outage {
  readonly sinceMs: number;
  readonly failures: number;
  readonly nextAttemptMs: number;
  readonly error: RockpoolError;
}

/**
 * While the destination fails, one copy retries after growing delays, and all others wait for it: a thousand databases
 * must not all send requests to storage that is down.
 */
export class RetryGate {
  outage: Outage | null = null;
  private readonly now: () => number;
  private readonly onOpen: () => void;
  private timer: NodeJS.Timeout | null = null;

  /** `onOpen` is called when it is time for the next attempt. */
  constructor(now: () => number, onOpen: () => void) {
    this.now = now;
    this.onOpen = onOpen;
  }

  /** Whether copies wait. */
  get isClosed(): boolean {
    return this.timer !== null;
  }

  /** Failures of copies that run at the same time count as one. */
  failed(error: RockpoolError): Outage {
    if (this.timer !== null && this.outage !== null) return (this.outage = { ...this.outage, error });
    const failures = (this.outage?.failures ?? 0) + 1;
    const delayMs = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures - 1));
    const nowMs = this.now();
    this.outage = { sinceMs: this.outage?.sinceMs ?? nowMs, failures, nextAttemptMs: nowMs + delayMs, error };
    this.timer = setTimeout(() => {
      this.timer = null;
      this.onOpen();
    }, delayMs);
    this.timer.unref();
    return this.outage;
  }

  /** Returns the outage that is over, or null if there was none. */
  succeeded(): Outage | null {
    const { outage } = this;
    this.outage = null;
    this.close();
    return outage;
  }

  close(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
  }
}

/** The part of a destination's error that helps an operator: the problem, the failed system call, or the status. */
export function causeOf({ fields }: RockpoolError): string | null {
  const cause = fields['problem'] ?? fields['systemCode'] ?? fields['status'];
  return cause === undefined ? null : String(cause);
}
