/** The state of the continuous backup for operators: of one thread, or of all. */
export interface BackupState {
  /** Databases whose newest commits are not copied. */
  readonly pending: number;
  /** Age of the oldest commit that is not copied. */
  readonly lagMs: number;
  /** Objects stored, and their bytes. */
  readonly objects: number;
  readonly storedBytes: number;
  readonly failures: number;
  /** Generations that were started because the record of the copies was damaged. */
  readonly restarts: number;
  /** Databases that only the destination holds. */
  readonly unloaded: number;
  /** Null if the destination works. */
  readonly outage: {
    readonly sinceMs: number;
    readonly nextAttemptMs: number;
    /** An error code. */
    readonly code: string;
    /** The HTTP status, or the code of a failed system call. */
    readonly cause: string | null;
  } | null;
}

const NOTHING: BackupState = {
  ...{ pending: 0, lagMs: 0, objects: 0, storedBytes: 0, failures: 0, restarts: 0, unloaded: 0 },
  outage: null,
};

/** The combined state of all threads. Null if no thread copies. */
export function sumOfStates(states: readonly (BackupState | null)[]): BackupState | null {
  const known = states.filter((state) => state !== null);
  if (known.length === 0) return null;
  return known.reduce(
    (sum, state) => ({
      pending: sum.pending + state.pending,
      lagMs: Math.max(sum.lagMs, state.lagMs),
      objects: sum.objects + state.objects,
      storedBytes: sum.storedBytes + state.storedBytes,
      failures: sum.failures + state.failures,
      restarts: sum.restarts + state.restarts,
      unloaded: sum.unloaded + state.unloaded,
      outage: earlier(sum.outage, state.outage),
    }),
    NOTHING,
  );
}

function earlier(a: BackupState['outage'], b: BackupState['outage']): BackupState['outage'] {
  if (a === null || b === null) return a ?? b;
  return a.sinceMs <= b.sinceMs ? a : b;
}
