import type { DatabaseStore } from './database-store.ts';

/** What opening as a writer or as a reader yields: the store for SQLite, and the work beside it. */
export interface OpenedStore {
  readonly store: DatabaseStore;
  dirtySinceMs(): number | undefined;
  flush(): void;
  committed(): Promise<void>;
  checkpoint(waitMs: number): Promise<boolean>;
  /** A reader on what this one has open; see Storage. */
  openReader(onError: (error: unknown) => void): Promise<OpenedStore>;
  /** `leavesLog`: see Storage. */
  close(leavesLog?: boolean): Promise<void>;
}

/** A reader has nothing to flush, to store or to move. */
export function openedReader(store: DatabaseStore, more: Pick<OpenedStore, 'openReader' | 'close'>): OpenedStore {
  return {
    store,
    dirtySinceMs: () => undefined,
    flush: () => undefined,
    committed: () => Promise.resolve(),
    checkpoint: () => Promise.resolve(false),
    ...more,
  };
}
