import type { DatabaseStore } from './database-store.ts';

/** What opening as a writer or as a reader yields: the store for SQLite, and the work beside it. */
export interface OpenedRole {
  readonly store: DatabaseStore;
  dirtySinceMs(): number | undefined;
  flush(): void;
  committed(): Promise<void>;
  checkpoint(waitMs: number): Promise<boolean>;
  close(leavesLog?: boolean): Promise<void>;
}
