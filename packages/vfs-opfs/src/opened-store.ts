import type { DatabaseStore } from './database-store.ts';

/** The result of opening a writer or a reader: the store for SQLite, and the operations around it. */
export interface OpenedStore {
  readonly store: DatabaseStore;
  dirtySinceMs(): number | undefined;
  flush(): void;
  committed(): Promise<void>;
  checkpoint(waitMs: number): Promise<boolean>;
  /** Opens a reader on the same files; see `Storage.openReader`. */
  openReader(onError: (error: unknown) => void): Promise<OpenedStore>;
  /** For `leavesLog`, see `Storage.close`. */
  close(leavesLog?: boolean): Promise<void>;
}

/** A reader has nothing to flush, commit or copy. */
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
