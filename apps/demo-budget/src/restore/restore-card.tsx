import { useState, type ReactNode } from 'react';
import { useTask } from '../shell/failure.tsx';
import { FileInput } from '../shell/file-input.tsx';
import { locale } from '../shell/locale.ts';
import { hashOf } from '../shell/navigation.ts';
import type { RestoreProgress } from './actions.ts';
import { openSaved } from './open-saved.ts';
import { savedProblemSentence } from './saved-budget.ts';

/** Opens an exported file as a new budget. */
export function RestoreCard(): ReactNode {
  const run = useTask();
  const [opening, setOpening] = useState(false);
  const [progress, setProgress] = useState<RestoreProgress | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const open = (file: Blob): void => {
    setOpening(true);
    setProgress(null);
    setProblem(null);
    run(async () => {
      try {
        const opened = await openSaved(file, setProgress);
        if (opened.ok) location.hash = hashOf(opened.value);
        else setProblem(savedProblemSentence(opened.problem));
      } finally {
        setOpening(false);
      }
    });
  };
  return (
    <section className="card form">
      <h2>Open a saved budget</h2>
      <p>Opens an exported .json or .sqlite file as a new budget on this device. The current budget does not change.</p>
      {opening ? (
        <label className="progress">
          {progress === null
            ? 'Reading …'
            : `${progress.writtenCount.toLocaleString(locale)} of ${progress.totalCount.toLocaleString(locale)} rows`}
          <progress {...(progress === null ? {} : { value: progress.writtenCount, max: progress.totalCount })} />
        </label>
      ) : (
        <FileInput label="Saved budget" accept=".json,.sqlite,application/json,application/vnd.sqlite3" onFile={open} />
      )}
      {problem !== null && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </section>
  );
}
