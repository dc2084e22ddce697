import { errorFromMedium } from './storage-error.ts';
import type { StorageError } from './storage-error.ts';

/** Keeps the last failure of a storage, including failures of background work, which has no caller to throw to. */
export class LastFailure {
  error: StorageError | undefined;

  readonly note = (thrown: unknown): void => {
    this.error = errorFromMedium(thrown, 'background');
  };
}
