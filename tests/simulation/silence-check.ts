import { SILENCE_LIMIT_MS } from '#shared/index.ts';
import type { SyncState } from '#client/rpc/sync-status.ts';
import type { Device } from './device.ts';
import type { VirtualTime } from './virtual-time.ts';

/**
 * How long a device may claim a connection without having a commit: the time after which a client gives up a silent
 * connection, and the delays of the last frames, of an open transaction and of a stalled server.
 */
export const STALE_MS = SILENCE_LIMIT_MS + 20_000;

/** The same if an instance may wait for a silent line to PostgreSQL. */
const STALE_WITH_INSTANCES_MS = STALE_MS + 90_000;

/** The states that claim a live connection. */
export const CONNECTED: ReadonlySet<SyncState> = new Set<SyncState>(['up-to-date', 'pushing']);

interface Reached {
  readonly atMs: number;
  /** The log epoch, in hex. */
  readonly logEpoch: string;
  readonly watermark: number;
}

export interface SilenceCheckOptions {
  readonly time: VirtualTime;
  readonly instances: number;
  readonly onFault: (fault: string) => void;
  readonly count: (what: string) => void;
}

/** Finds devices that claim to be connected, and receive nothing. */
export class SilenceCheck {
  private readonly options: SilenceCheckOptions;
  private readonly staleMs: number;
  /** What the server has reached, oldest first. */
  private readonly reached: Reached[] = [];

  constructor(options: SilenceCheckOptions) {
    this.options = options;
    this.staleMs = options.instances > 1 ? STALE_WITH_INSTANCES_MS : STALE_MS;
  }

  onCommit(logEpoch: Uint8Array, watermark: number): void {
    const epoch = hex(logEpoch);
    // A power cut or a restore took these commits back.
    while (this.reached.length > 0 && !isBefore(this.reached.at(-1) as Reached, epoch, watermark)) this.reached.pop();
    this.reached.push({ atMs: this.options.time.nowMs, logEpoch: epoch, watermark });
  }

  check(devices: readonly Device[]): void {
    const due = this.due();
    if (due !== null) for (const device of devices) this.checkDevice(device, due);
  }

  /** What every connected device must have. Null before the first commit is that old. */
  private due(): Reached | null {
    const untilMs = this.options.time.nowMs - this.staleMs;
    while (this.reached.length > 1 && (this.reached[1] as Reached).atMs <= untilMs) this.reached.shift();
    const [oldest] = this.reached;
    return oldest !== undefined && oldest.atMs <= untilMs ? oldest : null;
  }

  private checkDevice(device: Device, { watermark, atMs }: Reached): void {
    const { leader } = device;
    const meta = leader?.opened?.database.meta;
    if (leader === undefined || meta === undefined || !CONNECTED.has(leader.status.state)) return;
    this.options.count('connected device compared with what the server had');
    const { cursor } = meta;
    const mine = meta.logEpoch === null ? null : hex(meta.logEpoch);
    // What is younger than `due` may already have another log epoch.
    if (this.reached.some((reached) => reached.logEpoch === mine && reached.watermark <= cursor)) return;
    const forS = Math.round((this.options.time.nowMs - atMs) / 1000);
    this.options.onFault(
      `${device.name} says that it is ${leader.status.state} at ${cursor}, and has not heard of ${watermark} for ${forS} s`,
    );
  }
}

function isBefore(reached: Reached, logEpoch: string, watermark: number): boolean {
  return reached.logEpoch !== logEpoch || reached.watermark < watermark;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
