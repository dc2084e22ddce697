import { useState, type DragEvent, type ReactNode } from 'react';
import type { AccountRow } from '../queries/accounts.ts';
import { FileInput } from '../shell/file-input.tsx';
import { readChosenFile, type ChosenFile } from './chosen-file.ts';
import { fileProblemSentence } from './file/problem.ts';
import { samples } from './samples.ts';

export interface FileStepProps {
  readonly accounts: readonly AccountRow[];
  readonly accountId: string;
  readonly onAccount: (accountId: string) => void;
  readonly onFile: (file: ChosenFile) => void;
}

/** Selects the account and a file for it: with a file picker, by drag and drop, or from the samples. */
export function FileStep({ accounts, accountId, onAccount, onFile }: FileStepProps): ReactNode {
  const [problem, setProblem] = useState<string | null>(null);
  const [dropping, setDropping] = useState(false);

  const read = (fileName: string, blob: Blob): void => {
    readChosenFile(fileName, blob).then(
      (file) => {
        setProblem(file.ok ? null : fileProblemSentence(file.problem));
        if (file.ok) onFile(file.value);
      },
      () => setProblem('This file cannot be read. It may have been moved or deleted.'),
    );
  };

  const readSample = (fileName: string): void => {
    fetch(`/samples/${fileName}`)
      .then(async (response) =>
        response.ok ? read(fileName, await response.blob()) : setProblem('The sample cannot be loaded.'),
      )
      .catch(() => setProblem('The sample is loaded from the server, which is unreachable right now.'));
  };

  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setDropping(false);
    const file = event.dataTransfer.files[0];
    if (file !== undefined) read(file.name, file);
  };

  return (
    <>
      <section className="card form">
        <div className="fields">
          <label className="wide">
            Import into
            <select value={accountId} onChange={(event) => onAccount(event.target.value)}>
              {accounts.map((account) => (
                <option key={account.id} value={account.id}>
                  {account.name} ({account.currency})
                </option>
              ))}
            </select>
          </label>
        </div>
        <label
          className={dropping ? 'drop dropping' : 'drop'}
          onDragOver={(event) => {
            event.preventDefault();
            setDropping(true);
          }}
          onDragLeave={() => setDropping(false)}
          onDrop={drop}
        >
          <span className="drop-title">Choose a bank statement</span>
          <span className="hint">
            CSV, OFX, QFX, QIF or CAMT.052/053. Drop it here, and review everything before it is imported.
          </span>
          <FileInput
            label="Bank statement"
            accept=".csv,.tsv,.txt,.ofx,.qfx,.qif,.xml,.c52,.c53,application/x-ofx,application/xml,text/xml,text/csv,text/tab-separated-values,text/plain"
            onFile={(file) => read(file.name, file)}
          />
        </label>
        {problem !== null && (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
      </section>
      <section className="samples">
        <h2>No file at hand?</h2>
        <p>Try a sample statement:</p>
        <ul>
          {samples.map((sample) => (
            <li key={sample.fileName}>
              <button type="button" className="quiet" onClick={() => readSample(sample.fileName)}>
                {sample.title} ({sample.currency})
              </button>
            </li>
          ))}
        </ul>
      </section>
    </>
  );
}
