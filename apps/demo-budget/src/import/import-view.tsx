import { useClient } from '@rockpool/client/react';
import { useMemo, useState, type ReactNode } from 'react';
import { AccountForm } from '../accounts/account-form.tsx';
import type { Budget } from '../budget/budget.ts';
import { accountsWithBalances, importKeysOfAccount, type AccountRow, type ImportKeyRow } from '../queries.ts';
import { useAction } from '../shell/failure.tsx';
import { hashOf } from '../shell/navigation.ts';
import { useQuery } from '../shell/use-query.ts';
import { importEntries, type ImportProgress } from './actions.ts';
import { divideBy, guessFormats, type ChosenFile, type FormatChoice } from './chosen-file.ts';
import { FileStep } from './file-step.tsx';
import { fileProblemSentence, type Delimiter } from './file/problem.ts';
import { FormatForm } from './format-form.tsx';
import { ImportSummary } from './import-summary.tsx';
import { PreviewTable } from './preview-table.tsx';
import { isComplete } from './rows/columns.ts';
import { planImport } from './rows/plan.ts';
import { previewImport } from './rows/preview.ts';

/** Imports a bank's statement: choose a file, see how it is understood, correct that, import. */
export function ImportView({ budget, accountId }: { readonly budget: Budget; readonly accountId: string }): ReactNode {
  const accounts = useQuery<AccountRow>(accountsWithBalances);
  const [file, setFile] = useState<ChosenFile | null>(null);
  const account = accounts.rows.find((candidate) => candidate.id === accountId) ?? accounts.rows[0];
  const goTo = (id: string | null): void => {
    location.hash = hashOf(budget, { page: 'import', accountId: id ?? '' });
  };

  if (accounts.loading) return null;
  if (account === undefined) {
    return (
      <>
        <h1>Import</h1>
        <p>First, an account for the entries to go into.</p>
        <AccountForm onDone={goTo} />
      </>
    );
  }
  return (
    <>
      <h1>Import into {account.name}</h1>
      {file === null ? (
        <FileStep accounts={accounts.rows} accountId={account.id} onAccount={goTo} onFile={setFile} />
      ) : (
        <ReviewStep key={account.id} budget={budget} account={account} file={file} onFile={setFile} />
      )}
    </>
  );
}

interface ReviewStepProps {
  readonly budget: Budget;
  readonly account: AccountRow;
  readonly file: ChosenFile;
  readonly onFile: (file: ChosenFile | null) => void;
}

interface Done {
  readonly addedCount: number;
  readonly duplicateCount: number;
  readonly skippedCount: number;
}

function ReviewStep({ budget, account, file, onFile }: ReviewStepProps): ReactNode {
  const client = useClient();
  const run = useAction();
  const [formats, setFormats] = useState<FormatChoice>(() => guessFormats(file.table));
  const [skipped, setSkipped] = useState<ReadonlySet<number>>(new Set());
  const [problem, setProblem] = useState<string | null>(null);
  const [progress, setProgress] = useState<ImportProgress | null>(null);
  const [done, setDone] = useState<Done | null>(null);
  const keys = useQuery<ImportKeyRow>(importKeysOfAccount, [account.id]);
  const knownKeys = useMemo(() => new Set(keys.rows.map((row) => row.importKey)), [keys.rows]);
  // While the import runs, its own rows would turn up as duplicates of themselves.
  const frozen = progress !== null || done !== null;
  const preview = useMemo(
    () => (frozen || !isComplete(formats.columns) ? null : previewImport(file.table, { accountId: account.id, currency: account.currency, ...formats }, knownKeys)),
    [account.currency, account.id, file.table, formats, frozen, knownKeys],
  );
  const plan = useMemo(() => (preview === null ? null : planImport(preview, skipped)), [preview, skipped]);

  const divide = (delimiter: Delimiter): void => {
    const divided = divideBy(file, delimiter);
    setProblem(divided.ok ? null : fileProblemSentence(divided.problem));
    if (!divided.ok) return;
    onFile(divided.value);
    setFormats(guessFormats(divided.value.table));
    setSkipped(new Set());
  };

  const skip = (rowNumbers: readonly number[], skipThem: boolean): void => {
    const next = new Set(skipped);
    for (const rowNumber of rowNumbers) {
      if (skipThem) next.add(rowNumber);
      else next.delete(rowNumber);
    }
    setSkipped(next);
  };

  const start = (): void => {
    if (plan === null || !plan.ok) return;
    const { entries, duplicateCount, skippedCount } = plan.value;
    setProgress({ writtenCount: 0, totalCount: entries.length });
    run(async () => {
      try {
        const addedCount = await importEntries(client, account.id, entries, setProgress);
        setDone({ addedCount, duplicateCount: duplicateCount + entries.length - addedCount, skippedCount });
      } finally {
        setProgress(null);
      }
    });
  };

  if (done !== null) {
    return (
      <section className="card form" role="status">
        <h2>{done.addedCount === 1 ? '1 entry imported' : `${done.addedCount} entries imported`}</h2>
        <p>
          {done.duplicateCount === 0 ? 'None of them was there before.' : `${done.duplicateCount} were there already and were left as they are.`}
          {done.skippedCount > 0 && ` ${done.skippedCount} skipped.`}
        </p>
        <div className="buttons">
          <a className="button primary" href={hashOf(budget, { page: 'entries', accountId: account.id })}>
            Go to {account.name}
          </a>
          <button type="button" onClick={() => onFile(null)}>
            Import another file
          </button>
        </div>
      </section>
    );
  }
  if (progress !== null) {
    return (
      <section className="card">
        <label className="progress">
          {progress.writtenCount} of {progress.totalCount} entries saved
          <progress value={progress.writtenCount} max={progress.totalCount} />
        </label>
      </section>
    );
  }
  return (
    <>
      <FormatForm file={file} formats={formats} onDelimiter={divide} onFormats={setFormats} />
      {problem !== null && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <ImportSummary
        complete={isComplete(formats.columns)}
        open={formats.dateOrderOpen || formats.decimalMarkOpen || keys.loading}
        plan={plan}
        onSkipTroubled={(rowNumbers) => skip(rowNumbers, true)}
        onImport={start}
        onCancel={() => onFile(null)}
      />
      {preview !== null && <PreviewTable rows={preview} currency={account.currency} skipped={skipped} onSkip={(rowNumber, skipIt) => skip([rowNumber], skipIt)} />}
    </>
  );
}
