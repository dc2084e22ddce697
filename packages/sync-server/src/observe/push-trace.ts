/** The stages of a push on the server, in order. */
export type StageName = 'receive' | 'admission' | 'commit' | 'flush' | 'fan-out' | 'delivery';

/** Plain data, so that it can be sent to another thread. Times are in ms since 1970, with fractions. */
export interface TracedStage {
  readonly name: StageName;
  readonly startMs: number;
  readonly endMs: number;
  /** Sessions that a fan-out reached. */
  readonly sessions?: number;
  /** Pushes that share a commit. */
  readonly pushes?: number;
}

/** Deliveries of another instance's commit to the sessions of this one. */
export interface FollowedCommit {
  /** The trace parent of the push at the other instance. */
  readonly traceparent: string;
  readonly databaseId: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly sessions: number;
}

/** The stages that one traced push has passed on this thread. */
export class PushTrace {
  /** The `traceparent` of W3C Trace Context. */
  readonly traceparent: string;
  /** When the push was received, in ms since 1970. */
  readonly startMs: number;
  readonly stages: TracedStage[] = [];

  constructor({ traceparent, startMs }: Pick<PushTrace, 'traceparent' | 'startMs'>) {
    this.traceparent = traceparent;
    this.startMs = startMs;
  }
}

/** The current time, in ms since 1970 with fractions. The clocks of all threads of a process agree. */
export function traceNowMs(): number {
  return performance.timeOrigin + performance.now();
}

const TRACEPARENT = /^00-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/;

/** Whether a text from the bus is a `traceparent`: other programs may send on the bus. */
export function isTraceparent(text: unknown): text is string {
  return typeof text === 'string' && TRACEPARENT.test(text);
}
