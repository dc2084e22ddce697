import { errorFromMedium } from './storage-error.ts';
import type { StorageError } from './storage-error.ts';

/** The last failure of a storage, also of work in the background, where there is nobody to throw to. */
export class LastFailure {
  error: StorageError | undefined;

  readonly note = (thrown: unknown): void => {
    this.error = errorFromMedium(thrown, 'background');
  };
}
