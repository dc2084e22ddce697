import type { ReactNode } from 'react';
import type { Progress } from '../entries/change-many.ts';
import { locale } from './locale.ts';

export interface RunningWork {
  readonly label: string;
  /** Null before the size of the work is known. */
  readonly progress: Progress | null;
  /** Null if the work cannot be stopped. */
  readonly stop: (() => void) | null;
}

/** The running work, with its progress. Appears after a short delay, so that short work shows no toast. */
export function WorkToast({ work: { label, progress, stop } }: { readonly work: RunningWork }): ReactNode {
  const saving = progress !== null && progress.doneCount === progress.totalCount;
  return (
    <div className="toast-place work-place">
      <div className="toast">
        <label className="toast-progress">
          <span>
            {saving || progress === null
              ? `${label} …`
              : `${label}: ${progress.doneCount.toLocaleString(locale)} of ${progress.totalCount.toLocaleString(locale)}`}
          </span>
          {progress === null || saving ? (
            <progress />
          ) : (
            <progress value={progress.doneCount} max={progress.totalCount} />
          )}
        </label>
        {stop !== null && (
          <button type="button" className="quiet" onClick={stop}>
            Stop
          </button>
        )}
      </div>
    </div>
  );
}
